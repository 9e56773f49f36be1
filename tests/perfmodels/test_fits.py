"""Data that follow a model give the model back."""

from __future__ import annotations

import numpy as np
import pytest

from scalkit.errors import DataError, UsageError
from scalkit.perfmodels import Cells, LogGP, PointToPoint, bluegene_p, collective, fit_messages, identify
from scalkit.perfmodels.collectives.identify import OTHER
from scalkit.perfmodels.fits.loggp import find_rendezvous, fit_loggp

SIZES = np.unique(np.round(2 ** np.linspace(0, 22, 40)))
POINT_TO_POINT = bluegene_p()["point-to-point"]


def noisy(seed, y, noise=0.02, repetitions=10):
    return np.asarray(y)[:, None] * np.random.default_rng(seed).lognormal(0, noise, (len(y), repetitions))


def test_protocols_and_switches_are_found():
    fit = fit_messages(SIZES, noisy(1, POINT_TO_POINT(S=SIZES)))
    assert [(one.after <= 256 < one.before, one.after <= 1024 < one.before) for one in fit.switches] == [
        (True, False),
        (False, True),
    ]
    for found, latency in zip(fit.protocols, (4.5e-6, 5.7e-6, 9.8e-6), strict=True):
        low, high = found.fit.constant_interval
        assert low < latency * 1.02
        assert high > latency * 0.98
        assert found.fit.slope_interval[0] < 2.67e-9 * 1.02 < found.fit.slope_interval[1] * 1.05
    assert all(one.interval[0] <= one.after <= one.interval[1] for one in fit.switches)
    assert fit.probability > 0.999
    assert fit.remarks == ()
    assert np.abs(fit.residuals).max() < 0.06
    assert repr(fit).startswith("MessageFit(1 B to 238 B: ")


def test_times_without_noise_give_the_model_exactly():
    fit = fit_messages(SIZES, POINT_TO_POINT(S=SIZES))
    model = fit.point_to_point()
    inside = SIZES[(SIZES <= 238) | (SIZES > 353)]
    assert model(S=inside) == pytest.approx(POINT_TO_POINT(S=inside), rel=1e-9)
    with pytest.raises(UsageError, match="holds for S <= 4 MiB"):
        model(S="8 MiB")
    assert fit.point_to_point(beyond=True)(S="8 MiB") == pytest.approx(9.8e-6 + 2.67e-9 * 2**23, rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_one_protocol_has_no_switch(seed):
    fit = fit_messages(SIZES, noisy(seed, 2e-6 + 1e-10 * SIZES, 0.05))
    assert fit.switches == ()
    assert fit.probability < 0.5
    assert fit.remarks == ("No protocol switch is visible: one latency and bandwidth explain all sizes.",)
    low, high = fit.protocols[0].fit.constant_interval
    assert low < 2.02e-6
    assert high > 1.98e-6


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    x = np.array([1.0, 100, 1000, 5000, 20000, 50000, 80000, 100000])
    inside = np.zeros(2)
    for seed in range(100):
        fit = fit_messages(x, noisy(seed, 2e-6 + 1e-9 * x, 0.03, 5), max_protocols=1)
        line = fit.protocols[0].fit
        inside += [
            line.constant_interval[0] <= 2e-6 <= line.constant_interval[1],
            line.slope_interval[0] <= 1e-9 <= line.slope_interval[1],
        ]
    assert ((inside / 100 >= 0.84) & (inside / 100 <= 0.99)).all(), inside


def test_spikes_do_not_pass_for_noise():
    times = noisy(3, POINT_TO_POINT(S=SIZES), 0.01)
    times[::2, 0] *= 5
    fit = fit_messages(SIZES, times)
    assert fit.noise < 0.01
    assert [one.after for one in fit.switches] == [238.0, 771.0]


def test_negative_latency_is_held_at_zero_and_said():
    fit = fit_messages([1000, 2000, 3000, 10000], [1e-6, 2.1e-6, 3.2e-6, 11e-6])
    assert fit.protocols[0].fit.constant == 0
    assert fit.protocols[0].fit.bounded == ("constant",)
    assert fit.remarks[1] == ("The latency for S = 1000 B to 10000 B came out negative without a bound; it is held at zero.")
    assert "held at zero" in " ".join(fit.remarks)


@pytest.mark.parametrize(
    ("sizes", "times", "said"),
    [
        ([], [], "latency and bandwidth need 3 to 200 sizes, got 0; measure more or thin them out."),
        ([1, 2], [1, 2], "latency and bandwidth need 3 to 200 sizes, got 2; measure more or thin them out."),
        ([1, 2, 2], [1, 2, 3], "the size 2 B occurs twice; put its times into one row."),
        ([1, 2, 3], [1, 0, 3], "a time of S = 2 B is 0; times are positive and in s. Leave it out."),
        ([1, 2, 3], [1, 1e300, 3], "a time of S = 2 B is 1e+300; times are positive and in s. Leave it out."),
        ([1, 2, 3], [1, 2], "there must be a row of times for each size, got shapes (3,) and (2,)."),
        ([1, 2, 3], [[1], [np.nan], [2]], "a time of S = 2 B is nan; times are positive and in s. Leave it out."),
        ([1, 2, 3], ["a", "b", "c"], "the times are \"['a', 'b', 'c']\"; give numbers in seconds."),
    ],
)
def test_times_that_make_no_sense_are_refused(sizes, times, said):
    with pytest.raises(DataError) as error:
        fit_messages(sizes, times)
    assert str(error.value) == said


def test_options_that_make_no_sense_are_refused():
    said = {
        "^the statistic is 'max'; choose one of median, q1, min": ({"statistic": "max"},),
        "^max_protocols is 0; a positive whole number is needed": ({"max_protocols": 0},),
        "^max_protocols is 'few'; a positive whole number is needed": ({"max_protocols": "few"},),
    }
    for message, wrong in ((text, one) for text, several in said.items() for one in several):
        with pytest.raises(UsageError, match=message):
            fit_messages(SIZES, SIZES, **wrong)


def round_trips(sizes, n=10, L=2e-6, o=1.2e-6, r=1.5e-6, g=2e-6, G=1e-9, O=2e-11):  # noqa: E741
    overhead, beyond = o + O * sizes, sizes - 1
    single = 2 * (L + overhead + r + beyond * G)
    gap = np.maximum(overhead, g + beyond * G)
    return single, single + (n - 1) * gap, single + (n - 1) * np.maximum(overhead + single, gap)


def test_loggp_parameters_are_found():
    sizes = np.arange(1, 65537, 2048.0)
    single, several, delayed = round_trips(sizes)
    fit = fit_loggp(
        sizes,
        *(noisy(k, y, 0.005, 30) for k, y in enumerate((single, several, delayed))),
        n=10,
        delay=single,
        receive_overhead=noisy(9, np.full(len(sizes), 1.5e-6), 0.01, 30),
        rendezvous=65536,
    )
    truth = {"L": 2e-6, "o_send": 1.2e-6, "o_receive": 1.5e-6, "g": 2e-6, "G": 1e-9, "O": 2e-11}
    for name, value in truth.items():
        assert getattr(fit.parameters, name) == pytest.approx(value, rel=0.05), name
        low, high = fit.intervals[name]
        assert low <= value * 1.02
        assert high >= value * 0.98
    assert fit.parameters.S == 65536
    assert fit.half_round_trip == pytest.approx(single[0] / 2, rel=0.01)
    assert fit.remarks == ()


def played(size, n, delay, L, o, r, g, G):
    """Return a round trip of n messages and one answer, message by message: processors, network cards, arrivals."""
    sender = card = receiver = 0.0
    for k in range(n):
        sender += (delay if k else 0.0) + o
        begun = max(sender, card)
        card = begun + g + (size - 1) * G
        receiver = max(receiver, begun + L + (size - 1) * G) + r
    return max(sender, receiver + o + L + (size - 1) * G) + r


@pytest.mark.parametrize("g", [0.4e-6, 1.3e-6, 2e-6, 5e-6, 20e-6])
def test_the_gap_of_a_schedule_comes_back(g):
    truth = {"L": 2e-6, "o": 1.2e-6, "r": 0.9e-6, "g": g, "G": 1e-9}
    sizes = np.arange(1, 65537, 2048.0)
    single = np.array([played(s, 1, 0.0, **truth) for s in sizes])
    several = np.array([played(s, 10, 0.0, **truth) for s in sizes])
    delayed = np.array([played(s, 10, d, **truth) for s, d in zip(sizes, single, strict=True)])
    received = np.full(len(sizes), truth["r"])
    fit = fit_loggp(
        sizes,
        *(noisy(k, y, 0.005, 30) for k, y in enumerate((single, several, delayed))),
        n=10,
        delay=single,
        receive_overhead=noisy(9, received, 0.01, 30),
    )
    assert fit.parameters.g == pytest.approx(g, rel=0.05 if g > truth["o"] else 0.5)  # below o it hides at small sizes
    assert fit.intervals["g"][0] * 0.98 <= g <= fit.intervals["g"][1] * 1.02
    for name, value in {"L": 2e-6, "o_send": 1.2e-6, "o_receive": 0.9e-6, "G": 1e-9}.items():
        assert getattr(fit.parameters, name) == pytest.approx(value, rel=0.05), name


def test_loggp_sizes_come_in_any_order():
    sizes = np.arange(1, 65537, 2048.0)
    tables = round_trips(sizes)
    rising = fit_loggp(sizes, *tables, n=10, delay=tables[0])
    falling = fit_loggp(sizes[::-1], *(one[::-1] for one in tables), n=10, delay=tables[0][::-1])
    assert falling.parameters == rising.parameters


def test_loggp_without_noise_is_exact_also_where_the_overhead_hides_the_gap():
    sizes = np.arange(1, 65537, 2048.0)
    single, several, delayed = round_trips(sizes, g=0.8e-6)
    fit = fit_loggp(sizes, single, several, delayed, n=10, delay=single, receive_overhead=np.full(len(sizes), 1.5e-6))
    assert fit.parameters.g == pytest.approx(0.8e-6, rel=1e-6)
    assert fit.remarks == ("Up to 1 B the overhead hides the gap; g and G come from larger messages, if there are three.",)


def test_loggp_says_what_it_assumes_and_what_it_cannot_see():
    sizes = np.arange(1, 65537, 2048.0)
    single, several, _ = round_trips(sizes)
    short = several.copy()
    fit = fit_loggp(
        sizes,
        single,
        several,
        single + 9 * np.maximum(1.2e-6 + 2e-11 * sizes + 3e-5, 2e-6 + 1e-9 * (sizes - 1)),
        n=10,
        delay=3e-5,
    )
    assert fit.remarks[0] == "The overhead of the receiver is assumed to be that of the sender."
    assert fit.remarks[1] == "The overhead is not seen above 26625 B, where the delay is shorter than the gap."
    with pytest.raises(DataError, match="delay by a round trip, so that the overhead can be seen"):
        fit_loggp(sizes, single, several, short, n=10, delay=0)
    with pytest.raises(UsageError, match=r"^the delay is '3 B'; give a number of seconds, or one for each of 32 sizes\.$"):
        fit_loggp(sizes, single, several, short, n=10, delay="3 B")
    with pytest.raises(UsageError, match="n = 1 messages are too few; use at least 2"):
        fit_loggp(sizes, single, several, short, n=1, delay=1)


def test_rendezvous_is_where_the_sender_waits():
    sizes = 2.0 ** np.arange(20)
    found = find_rendezvous(sizes, np.where(sizes > 4096, 1.1e-3, 2e-6), "1 ms")
    assert (found.after, found.before, found.is_clean) == (4096.0, 8192.0, True)
    never = find_rendezvous(sizes, np.full(20, 1e-6), "1 ms")
    assert (never.after, never.before) == (2.0**19, np.inf)
    odd = np.where(sizes > 4096, 1.1e-3, 2e-6)
    odd[0] = 1.1e-3
    assert not find_rendezvous(sizes, odd, "1 ms").is_clean
    with pytest.raises(UsageError, match="the delay is '1 B'; it must be a positive time"):
        find_rendezvous(sizes, odd, "1 B")


def cells(processes, sizes):
    P, S = np.meshgrid(processes, sizes, indexing="ij")
    return S.ravel().astype(float), P.ravel()


MESSAGE = PointToPoint.hockney("2 us", "0.5 ns/B", reduce_per_byte="0.1 ns/B")


def broadcasts(seed, off=1.1, scatter=0.05):
    """Binomial below 12 kB, scatter and ring above, both slower than their models by a factor, and off by 5 % a cell."""
    S, P = cells([8, 16, 32, 64], 4.0 ** np.arange(1, 12))
    small, large = (collective("broadcast", name, MESSAGE)(S=S, P=P) for name in ("binomial", "scatter-ring"))
    rng = np.random.default_rng(seed)
    truth = np.where(S < 12000, small, large) * off * rng.lognormal(0, scatter, len(S))
    return S, P, noisy(seed, truth), np.where(S < 12000, "binomial", "scatter-ring")


def test_algorithms_are_identified_with_their_switches():
    S, P, times, truth = broadcasts(4)
    found = identify(Cells("broadcast", "MPI_Bcast", S, P, times), MESSAGE)
    right = [one in cell.algorithms for one, cell in zip(truth, found.cells, strict=True)]
    assert np.mean(right) >= 0.9
    assert found.probabilities.sum(axis=1) == pytest.approx(1.0)
    assert found.bias == pytest.approx(1.1, rel=0.05)
    wide = [one for one in found.switches if one.P == 64]
    assert [(one.after, one.before, one.old) for one in wide] == [(4096.0, 16384.0, ("binomial",))]
    better = {cell.best for cell in found.better()}
    assert better <= {"scatter-doubling", "pipeline", "binomial", "scatter-ring"}
    assert "seems to be" in found._repr_html_()
    assert repr(found).startswith("Identified('broadcast': ")


def test_times_that_no_algorithm_explains_are_other():
    S, P, times, _ = broadcasts(5)
    times[(P == 16)] = 4e-2 * (1 + S[P == 16, None] % 7)
    found = identify(Cells("broadcast", "MPI_Bcast", S, P, times), MESSAGE)
    odd = [cell.algorithms for cell in found.cells if cell.P == 16]
    assert odd.count(("other",)) >= 9


def test_algorithms_for_powers_of_two_are_not_considered_elsewhere():
    S, P = cells([6, 12], [8, 1024, 65536])
    found = identify(Cells("allgather", "f", S, P, collective("allgather", "ring", MESSAGE)(S=S, P=P)), MESSAGE)
    column = found.names.index("recursive-doubling")
    assert found.probabilities[:, column].max() == 0


def test_a_barrier_has_no_size():
    P = np.array([2, 4, 8, 16, 32])
    found = identify(Cells("barrier", "f", np.zeros(5), P, collective("barrier", "tree", MESSAGE)(P=P)), MESSAGE)
    assert [cell.algorithms[0] for cell in found.cells[1:]] == ["tree"] * 4


@pytest.mark.parametrize(
    ("S", "P", "times", "said"),
    [
        ([1], [2, 4], [1.0], "there must be S, P and times of each cell, got 1, 2 and 1."),
        ([1, 2], [2, 4], [1.0, -1], "times must be positive and finite, at least one for each cell; leave the others out."),
        ([1, 2], [1, 4], [1.0, 1], "a cell has fewer than 2 processes; there is nothing to tell apart."),
    ],
)
def test_cells_that_make_no_sense_are_refused(S, P, times, said):
    with pytest.raises(DataError) as error:
        identify(Cells("broadcast", "MPI_Bcast", S, P, times), MESSAGE)
    assert str(error.value) == said


def test_exact_times_of_an_unknown_algorithm_are_other():
    message = LogGP(L=2e-6, o_send=0.5e-6, o_receive=0.5e-6, g=0.3e-6, G=0.1e-9).point_to_point()
    P = np.array([4, 8, 16, 32])
    S = np.full(4, 64.0)
    times = collective("broadcast", "binomial", message)(S=S, P=P)
    twice = np.repeat(times[:, None], 2, axis=1)
    repeated = Cells("broadcast", "MPI_Bcast", S, P, twice)
    assert {one.likeliest for one in identify(repeated, message).cells} == {"binomial"}
    left_out = identify(repeated, message, without=("binomial",)).cells
    assert sum(one.likeliest == OTHER for one in left_out) >= 3
    measured = identify(Cells("broadcast", "MPI_Bcast", S, P, times), message, without=("binomial",)).cells
    assert sum(one.likeliest == OTHER for one in measured) <= sum(one.likeliest == OTHER for one in left_out)
    virtual = Cells("broadcast", "MPI_Bcast", S, P, times, virtual=True)
    assert {one.likeliest for one in identify(virtual, message).cells} == {"binomial"}
