"""Is a link congested? Random pairs on simulated tori against the bounds of equation 2 of the models paper.

Cubic tori of 8, 64 and 216 nodes whose links have the bandwidth of the BlueGene/P, simulated with SimGrid SMPI, not
measured. In each round every process exchanges messages with a random partner, both ways at once. A message alone crosses one
link. Writes data/models/tori/pairs.csv: a row for each round, with the shortest, the median and the longest time of an exchange:

    python benchmarks/congestion.py
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from pathlib import Path

import numpy as np

from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import simulate
from scalkit.bench.patterns.point_to_point import MessageArguments, prepare_messages
from scalkit.perfmodels import PointToPoint, congested, inside_bounds, read_message_runs

OUT = Path(__file__).resolve().parents[1] / "data/models/tori/pairs.csv"
SIDES, SIZES, ROUNDS = (2, 4, 6), (65536,), 10
LINK = PointToPoint.hockney("3 us", f"{1 / 374.5e6!r} s/B", name="link of 374.5 MB/s")
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <config>
    <prop id="smpi/lat-factor" value="0:1"/><prop id="smpi/bw-factor" value="0:1"/>
    <prop id="smpi/os" value="0:0:0"/><prop id="smpi/ois" value="0:0:0"/><prop id="smpi/or" value="0:0:0"/>
    <prop id="network/TCP-gamma" value="0"/><prop id="network/crosstraffic" value="0"/>
  </config>
  <cluster id="torus" prefix="torus-" suffix="" radical="0-{last}" speed="10Gf" core="1" bw="374.5MBps" lat="3us"
           topology="TORUS" topo_parameters="{side},{side},{side}"/>
</platform>
"""


def main() -> int:
    """Simulate, write the table, and print the verdicts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="+", default=SIDES, help="nodes along each side of the tori")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of random pairs (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=OUT, help="the table (default: %(default)s)")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for side in args.sides:
            P = side**3
            file = Path(name) / f"torus-{P}.xml"
            file.write_text(PLATFORM.format(last=P - 1, side=side), encoding="utf-8")
            mpi = simulate(load_platform(str(file)))
            for size in SIZES:
                folder = Path(name) / f"runs-{P}-{size}"
                options = {"counts": (P,), "rounds": args.rounds, "bisection_size": size}
                prepare_messages(folder, MessageArguments(("bisection",), 1, 20261, **options), mpi).run()  # type: ignore[arg-type]
                runs = read_message_runs(folder)
                times = np.array([np.median(one.t.reshape(P, -1), axis=1) for one in runs.of("Perfect_matching")])
                for k, one in enumerate(times):
                    rows.append((P, size, k, one.min(), float(np.median(one)), one.max()))
                found = inside_bounds(congested(LINK), times.ravel(), S=size, P=P)
                print(f"torus {side}x{side}x{side}, {size} B: {found.sentence}", flush=True)
    args.out.parent.mkdir(exist_ok=True)
    with args.out.open("w", encoding="utf-8", newline="") as stream:
        stream.write("# simulated with SMPI Version 3.32: random pairs on cubic tori, links of 374.5 MB/s; nothing is measured\n")
        stream.write("# made by benchmarks/congestion.py\n")
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("P", "S", "round", "shortest_s", "median_s", "longest_s"))
        writer.writerows((P, S, k, *(f"{t:.9g}" for t in times)) for P, S, k, *times in rows)
    print(f"{len(rows)} rounds in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
