"""The BlueGene/P models of the paper give the values that were computed from its text by hand."""

from __future__ import annotations

import pytest

from scalkit.perfmodels import bluegene_p

US = 1e-6
MIB = 1 << 20
LARGE = 960 * MIB

GOLDEN = [
    ("point-to-point", {"S": 8}, 4.52136),
    ("point-to-point", {"S": 256}, 5.18352),
    ("point-to-point", {"S": 257}, 6.38619),
    ("point-to-point", {"S": 1024}, 8.43408),
    ("point-to-point", {"S": 1025}, 12.53675),
    ("point-to-point", {"S": 65536}, 184.78112),
    ("point-to-point", {"S": 2**20}, 2809.49792),
    ("point-to-point", {"S": "16 KiB"}, 53.54528),
    ("barrier", {"P": 2}, 0.95),
    ("barrier", {"P": 32768}, 0.95),
    ("broadcast-8-bytes", {"P": 2}, 13.31),
    ("broadcast-8-bytes", {"P": 1024}, 16.10),
    ("broadcast-8-bytes", {"P": 32768}, 17.65),
    ("allreduce-8-bytes", {"P": 512}, 17.77),
    ("allreduce-8-bytes", {"P": 4096}, 17.77),
    ("allreduce-8-bytes", {"P": 32768}, 18.88),
    ("alltoall-8-bytes", {"P": 2}, 5.34),
    ("alltoall-8-bytes", {"P": 1024}, 863.82),
    ("alltoall-8-bytes", {"P": 32000}, 26883.66),
]

# values that the notes print with fewer digits: those digits must come out
ROUNDED = [
    ("broadcast", {"S": MIB, "P": 512}, "482.406", US),
    ("broadcast", {"S": MIB, "P": 4096}, "483.336", US),
    ("broadcast", {"S": MIB, "P": 32768}, "484.266", US),
    ("worst-bandwidth", {"P": 512}, "31.2083", 1e6),
    ("worst-bandwidth", {"P": 4096}, "15.6042", 1e6),
    ("worst-bandwidth", {"P": 32768}, "7.8021", 1e6),
]

BOUNDS = [
    ("point-to-point-congested", {"S": 65536, "P": 512}, "upper", 2109.57344 * US),
    ("point-to-point-congested", {"S": 65536, "P": 4096}, "upper", 4209.34688 * US),
    ("point-to-point-congested", {"S": 2**20, "P": 32768}, "upper", 134395.30016 * US),
    ("point-to-point-congested", {"S": 65536, "P": 512}, "lower", 184.78112 * US),
    ("matching", {"R": 1}, "upper", 0.1 * US),
    ("matching", {"R": 13}, "upper", 1.3 * US),
    ("matching", {"R": 1000}, "upper", 100 * US),
]

ALLTOALL = [
    ({"S": 1024, "P": 512}, "3.16332", 1e-3),
    ({"S": 1024, "P": 4096}, "35.33011", 1e-3),
    ({"S": 1024, "P": 32768}, "457.365", 1e-3),
    ({"S": LARGE / 512, "P": 512}, "5.24986", 1.0),
    ({"S": LARGE / 4096, "P": 4096}, "7.65711", 1.0),
    ({"S": LARGE / 32768, "P": 32768}, "12.92276", 1.0),
]


@pytest.mark.parametrize(("name", "at", "us"), GOLDEN)
def test_models_have_the_golden_values(name, at, us):
    assert bluegene_p()[name](**at) == pytest.approx(us * US, rel=1e-6)


@pytest.mark.parametrize(("name", "at", "printed", "unit"), ROUNDED)
def test_models_round_to_the_printed_values(name, at, printed, unit):
    assert f"{bluegene_p()[name](**at) / unit:.{len(printed.split('.')[1])}f}" == printed


@pytest.mark.parametrize(("name", "at", "side", "seconds"), BOUNDS)
def test_bounds_have_the_golden_values(name, at, side, seconds):
    assert getattr(bluegene_p()[name].bounds(**at), side) == pytest.approx(seconds, rel=1e-6)


@pytest.mark.parametrize(("at", "printed", "unit"), ALLTOALL)
def test_bound_of_the_all_to_all_is_that_of_the_paper(at, printed, unit):
    lower = bluegene_p()["alltoall-paper"].bounds(**at).lower
    assert f"{lower / unit:.{len(printed.split('.')[1])}f}" == printed


def test_large_broadcast_and_allreduce():
    models = bluegene_p()
    assert models["broadcast"](S=LARGE, P=512) == pytest.approx(0.44797, abs=5e-6)
    assert models["allreduce"](S=LARGE, P=512) == pytest.approx(1.20055, abs=5e-6)
    assert models["allreduce"](S=9.6e8, P=512) == pytest.approx(1.14494, abs=5e-6)
    assert models["allreduce"](S=LARGE, P=512) == pytest.approx(2.68 * models["broadcast"](S=LARGE, P=512), rel=1e-12)


@pytest.mark.parametrize(("k", "too_high"), [(8, 1.95), (16, 1.42), (32, 1.20)])
def test_exact_bound_is_below_that_of_the_paper_by_the_congestion(k, too_high):
    models, at = bluegene_p(), {"S": "1 GiB", "P": k**3}  # so large that congestion is all
    ratio = models["alltoall-paper"].bounds(**at).lower / models["alltoall-exact"].bounds(**at).lower
    assert ratio == pytest.approx(too_high, abs=0.005)


def test_growths_of_the_catalogue():
    found = {name: str(model.growth) for name, model in bluegene_p().items()}
    assert found == {
        "point-to-point": "S",
        "point-to-point-congested": "S*p^(1/3)",
        "worst-bandwidth": "1/p^(1/3)",
        "strided": "S",
        "matching": "R",
        "barrier": "1",
        "broadcast-8-bytes": "log(p)",
        "allreduce-8-bytes": "log(p)",
        "alltoall-8-bytes": "p",
        "broadcast": "S + log(p)",
        "broadcast-tree": "S",
        "broadcast-non-cubic": "S + log(p)",
        "allreduce": "S + log(p)",
        "alltoall-paper": "S*p^(4/3)",
        "alltoall-exact": "S*p^(4/3)",
    }
