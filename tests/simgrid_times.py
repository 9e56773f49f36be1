"""Times of messages on a SimGrid platform, as SMPI computes them."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

ENVELOPE_B = 16  # SMPI sends so many bytes more, and its factors by size count them


def simgrid_times(platform: str, sizes: ArrayLike) -> np.ndarray:
    """Return the one-way times, in s, of messages of some sizes, in B, between two hosts of the cluster in a platform."""
    root = ElementTree.fromstring(platform)
    config = {str(prop.get("id")): str(prop.get("value")) for prop in root.iter("prop")}
    cluster = root.find("cluster")
    assert cluster is not None
    latency, rate = 2 * float(cluster.get("lat", "").removesuffix("s")), float(cluster.get("bw", "").removesuffix("Bps"))
    on_wire = np.asarray(sizes, dtype=float) + ENVELOPE_B
    slower, faster = (_factor(config[f"smpi/{key}"], on_wire) for key in ("lat-factor", "bw-factor"))
    busy = sum(float(config[f"smpi/{key}"].split(":")[1]) for key in ("os", "or"))
    is_detached = np.asarray(sizes) < float(config["smpi/send-is-detached-thresh"])
    return latency * slower + on_wire / (rate * faster) + busy * is_detached


def _factor(text: str, sizes: np.ndarray) -> np.ndarray:
    """Return the factor of each size; ``"0:1;65536:0.9"`` is 1 up to 65,536 B and 0.9 beyond."""
    starts, values = zip(*(map(float, one.split(":")) for one in text.split(";")), strict=True)
    return np.array(values)[np.maximum(np.searchsorted(starts, sizes, side="left") - 1, 0)]
