"""Parameters go out to the simulators."""

from __future__ import annotations

import math
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from needs import needs_simgrid
from simgrid_times import simgrid_times

from scalkit.errors import UsageError
from scalkit.perfmodels import ExactModel, LogGP, PointToPoint, Range, bluegene_p, to_loggopsim, to_simgrid
from scalkit.perfmodels.files.sources import loggopsim_unit, message_of
from scalkit.perfmodels.models.point_to_point import Protocol

LOGGP = LogGP(L=2.5e-6, o_send=1.5e-6, o_receive=1.5e-6, g=1e-6, G=6.25e-9, O=0.5e-9, S=65536)
MESSAGE = PointToPoint(bluegene_p()["point-to-point"])
SIZES = np.array([0, 1, 8, 256, 257, 1024, 1025, 65534, 65535, 65536, 2**20])


def test_loggopsim_options():
    assert " ".join(to_loggopsim(LOGGP)) == "-L 250000 -o 150000 -g 100000 -G 625 -O 50 -S 65536"
    assert loggopsim_unit(LOGGP) == 1e-11


@pytest.mark.parametrize("per_byte", [0.0, 8e-13, 3.7e-11, 8.8183559e-11, 2.67e-9, 1e-6])
@pytest.mark.parametrize("latency", [1.77e-9, 3.7e-7, 2.5e-5, 0.02])
def test_loggopsim_reads_whole_numbers_of_32_bits(latency, per_byte):
    """Its grammar (simulator.ggo) declares all six as int: strtol to the end of the word, else "invalid numeric value"."""
    loggp = LogGP(latency, 2.6e-7, 5.8e-7, 4.1e-7, per_byte, O=per_byte / 2)
    words = to_loggopsim(loggp)
    assert words[::2] == ["-L", "-o", "-g", "-G", "-O", "-S"]
    assert all(re.fullmatch("[0-9]+", word) and int(word) < 2**31 for word in words[1::2])
    L, o, g, per_byte_again, O = (int(word) * loggopsim_unit(loggp) for word in words[1:-1:2])  # noqa: E741
    back = LogGP(L, o, o, g, per_byte_again, O=O)
    if latency < 0.01:  # else no unit has room for both
        for size in (1, 1000, 1_000_000):
            assert back.point_to_point()(S=size) == pytest.approx(loggp.point_to_point()(S=size), rel=0.01)


def test_loggopsim_has_no_room_for_seconds():
    with pytest.raises(UsageError, match=r"^L of 'LogGP' is 3000000000 ns; LogGOPSim's numbers end at 2147483647\.$"):
        to_loggopsim(LogGP(L=3.0, o_send=1e-6, o_receive=1e-6, g=1e-6, G=1e-9))


def test_loggopsim_has_no_infinite_size():
    eager = LogGP(L=1e-6, o_send=1e-6, o_receive=1e-6, g=1e-6, G=1e-9)
    assert to_loggopsim(eager)[-1] == "2147483647"


@pytest.mark.parametrize("overheads", [(0.0, 0.0), (3e-7, 5e-7)])
def test_simgrid_platform_takes_the_times_of_the_model(overheads):
    text = to_simgrid(MESSAGE, hosts=16, overheads_s=overheads)
    assert simgrid_times(text, SIZES) == pytest.approx(MESSAGE(S=SIZES), rel=1e-9)


def test_simgrid_platform_is_what_smpi_reads():
    root = ElementTree.fromstring(to_simgrid(MESSAGE, hosts=16, overheads_s=(3e-7, 0.0)))
    config = {prop.get("id"): prop.get("value") for prop in root.iter("prop")}
    assert [part.split(":")[0] for part in config["smpi/lat-factor"].split(";")] == ["0", "272", "1040", "65551"]
    assert config["smpi/os"] == "0:3e-07:0"
    cluster = root.find("cluster")
    assert cluster.get("radical") == "0-15"
    latency = 2 * float(cluster.get("lat").removesuffix("s"))
    assert latency == pytest.approx(4.5e-6 - 3e-7 - 16 * 2.67e-9, rel=1e-12)  # 16 bytes are SMPI's envelope


def test_loggp_makes_a_platform():
    message = LogGP(L=2e-6, o_send=1e-6, o_receive=1e-6, g=0.7e-6, G=1e-9, S=65536).point_to_point()
    text = to_simgrid(message, overheads_s=(1e-6, 1e-6))
    at = np.array([1, 1000, 65535, 65537, 2**20])
    assert simgrid_times(text, at) == pytest.approx(message(S=at), rel=1e-3)


def test_overheads_leave_a_latency():
    with pytest.raises(UsageError, match=r"leave no latency of 'point-to-point'; lower the overheads\.$"):
        to_simgrid(MESSAGE, overheads_s=(3e-6, 3e-6))
    with pytest.raises(UsageError, match="hosts is 0; a positive whole number is needed"):
        to_simgrid(MESSAGE, hosts=0)
    curved = PointToPoint(LOGGP.point_to_point().gap + ExactModel("c", {"c": "0.1 us"}))
    with pytest.raises(UsageError, match=r"is no latency plus a time per byte"):
        to_simgrid(curved)


def test_a_first_protocol_without_latency_is_exported():
    """SMPI's 16 bytes take longer than the latency: what cannot be met is off at both ends alike, and said."""
    steep = [
        Protocol(Range(0, 3), 236e-9, 25e-9),
        Protocol(Range(3, 4096, open_low=True), 3e-7, 1e-10),
        Protocol(Range(4096, math.inf, open_low=True), 0.0, 2e-10),
    ]
    text = to_simgrid(PointToPoint.of_protocols(steep, name="steep"))
    assert "<!-- messages with S <= 3 B are up to 5.4 % off: SMPI adds 16 bytes to each -->" in text
    at = np.array([0, 1, 3, 8, 4096, 4097, 2**20])
    assert simgrid_times(text, at) == pytest.approx(PointToPoint.of_protocols(steep)(S=at), rel=0.06)
    assert simgrid_times(text, at[3:]) == pytest.approx(PointToPoint.of_protocols(steep)(S=at[3:]), rel=0.005)
    none = PointToPoint.hockney("0 s", "1 ns/B", name="none")
    assert simgrid_times(to_simgrid(none), [2**20]) == pytest.approx(none(S=2**20), rel=1e-3)
    with pytest.raises(UsageError, match=r"leave no latency of 'none'; lower the overheads\.$"):
        to_simgrid(none, overheads_s=(1e-6, 0.0))


EXCHANGES = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static char a[1 << 20], b[1 << 20];
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        int n = atoi(argv[i]), to = 1 - rank;
        double t[3];
        for (int k = 0; k < 2; k++) {
            t[k] = MPI_Wtime();
            MPI_Sendrecv(a, n, MPI_CHAR, to, 0, b, n, MPI_CHAR, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            t[k] = MPI_Wtime() - t[k];
        }
        t[2] = MPI_Wtime();
        if (rank == 0)
            MPI_Send(a, n, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(b, n, MPI_CHAR, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(a, n, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d %.9g %.9g\n", n, t[1], (MPI_Wtime() - t[2]) / 2);
    }
    MPI_Finalize();
}
"""


@needs_simgrid
@pytest.mark.parametrize("card", ["mpich-5.0.2", "openmpi-5.0.11"])
def test_simgrid_takes_as_long_as_the_card(card: str, tmp_path: Path) -> None:
    message = message_of(Path(__file__).parents[2] / f"data/models/{card}.toml")
    (tmp_path / "cluster.xml").write_text(to_simgrid(message, hosts=2))
    (tmp_path / "hosts").write_text("scalkit-0\nscalkit-1\n")
    (tmp_path / "exchanges.c").write_text(EXCHANGES)
    subprocess.run(["smpicc", "-O1", "-o", "exchanges", "exchanges.c"], cwd=tmp_path, check=True, capture_output=True)
    still = [f"--cfg=smpi/{name}:{value}" for name, value in (("simulate-computation", "no"), ("wtime", 0))]
    command = ["smpirun", "-np", "2", "-platform", "cluster.xml", "-hostfile", "hosts", *still, "./exchanges"]
    done = subprocess.run(
        [*command, *map(str, (8, 1024, 4096, 16384, 65536, 1 << 20))], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    rows = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert len(rows) == 6
    for size, exchange, one_way in rows:
        assert exchange == pytest.approx(float(message.exchange(S=size)), rel=0.03)
        assert one_way == pytest.approx(float(message(S=size)), rel=0.03)
