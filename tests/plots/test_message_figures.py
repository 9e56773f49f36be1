"""Pictures of models of messages are data: traces, axes, units, hover texts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scalkit.errors import UsageError
from scalkit.perfmodels import LogGP, bluegene_p, find_rendezvous, fit_loggp, fit_messages
from scalkit.perfmodels.fits.bisection import fit_bisection
from scalkit.perfmodels.fits.loggp import LogGPFit
from scalkit.perfmodels.fits.overlap import fit_overlap
from scalkit.perfmodels.fits.steps import fit_matching, fit_reducing
from scalkit.perfmodels.fits.strides import fit_packing, fit_strides
from scalkit.plots.models.message_shares import message_shares
from scalkit.plots.models.messages import messages

RNG = np.random.default_rng(5)
SIZES = np.unique(np.round(2 ** np.linspace(0, 16, 30)))


def test_protocols_have_lines_bands_and_residuals() -> None:
    truth = bluegene_p()["point-to-point"](S=SIZES)
    fit = fit_messages(SIZES, truth[:, None] * RNG.lognormal(0, 0.01, (len(SIZES), 8)))
    figure = messages(fit, simulated=True)
    assert len(figure.data) == 3 * len(fit.protocols) == 9
    assert len(figure.layout.shapes) == len(fit.switches) == 2
    residuals = np.concatenate([one.y for one in figure.data if one.yaxis == "y2"])
    assert np.abs(residuals).max() < 3  # per cent
    assert residuals == pytest.approx(100 * fit.residuals, abs=1e-3)
    assert figure.layout.yaxis.title.text == "time, one way, simulated"
    assert figure.layout.yaxis2.ticksuffix == " %"
    assert figure.layout.meta["alt"].startswith("Time of messages over their size, simulated: 3 protocols, switching between")
    assert figure.data[1].text[0].startswith("1 B: 4.")
    assert "4 KiB" in figure.layout.xaxis.ticktext


def test_a_message_of_no_bytes_stands_left_of_the_first() -> None:
    sizes = np.array([0.0, 1, 8, 64, 512])
    figure = messages(fit_messages(sizes, 1e-6 + 1e-9 * sizes))
    assert figure.layout.xaxis.ticktext[0] == "0 B"
    assert figure.data[1].x[0] == 0.5


def test_loggp_shows_every_line() -> None:
    truth = LogGP(1e-6, 3e-7, 4e-7, 8e-7, 1e-9)
    sizes = np.array([1.0, 256, 512, 1024, 4096])
    single = 2 * (truth.L + truth.o_send + truth.o_receive + (sizes - 1) * truth.G)
    several = single + 9 * (truth.g + (sizes - 1) * truth.G)
    delayed = single + 9 * (truth.o_send + single)
    fit = fit_loggp(sizes, single, several, delayed, n=10, delay=single, receive_overhead=np.full(5, 4e-7))
    figure = messages(fit)
    names = [one.name for one in figure.data if one.mode == "lines"]
    assert names == ["half a round trip", "gap", "overhead of the sender", "overhead of the receiver"]
    assert max(np.abs(one.y).max() for one in figure.data if one.yaxis == "y2") < 0.1
    bare = LogGPFit(truth, {}, 1e-6, (), 0.9, ())
    with pytest.raises(UsageError, match=r"^this fit keeps no measured values; fit it again with fit_loggp\.$"):
        messages(bare)


def test_steps_and_the_bisection() -> None:
    queue = messages(fit_matching([0, 10, 100], [1e-6, 1.1e-6, 2e-6]))
    assert queue.layout.xaxis.title.text == "queued receives"
    assert queue.layout.xaxis.type is None  # a line stays a line
    reducing = messages(fit_reducing([512, 4096, 32768], [1e-7, 8e-7, 64e-7]))
    assert reducing.layout.xaxis.title.text == "reduced bytes"
    fit = fit_bisection(1e6, {p: 1e-4 * p**0.5 * RNG.lognormal(0, 0.05, (10, p)) for p in (2, 8, 32)})
    figure = messages(fit)
    assert list(figure.data[1].x) == [2, 8, 32]
    assert len(figure.data[1].error_y.array) == 3
    histogram = message_shares(fit)
    assert [one.name for one in histogram.data] == ["2 processes", "8 processes", "32 processes"]
    assert all(sum(one.y) == pytest.approx(1) for one in histogram.data)


def test_overlap_and_strides() -> None:
    times = np.array([[1e-5], [1e-4], [1e-3]])
    fits = [fit_overlap([1e3, 1e4, 1e5], times, times, both, side=side) for side, both in
            (("sender", times), ("receiver", 2 * times))]  # fmt: skip
    figure = message_shares(fits)
    assert [one.name for one in figure.data] == ["the sender works", "the receiver works"]
    assert list(figure.data[0].y) == [1, 1, 1]
    assert list(figure.data[1].y) == [0, 0, 0]
    strides = message_shares(fit_strides(64, [1, 2, 4], [[1e-5], [2e-5], [4e-5]], [1e-5]), simulated=True)
    assert list(strides.data[0].y) == [1, 2, 4]
    assert strides.layout.yaxis.title.text == "times a contiguous message, simulated"
    packing = messages(fit_packing(2, sizes := np.array([512.0, 4096, 32768]), 2 * sizes[:, None]))
    assert list(packing.data[1].y) == [512, 4096, 32768]
    assert packing.layout.yaxis.title.text == "packing, stride 2"
    nothing = fit_packing(2, sizes, np.full((3, 2), 1e-10))
    with pytest.raises(UsageError, match=r"^packing at the stride 2 costs nothing that is seen; there is nothing to draw\.$"):
        messages(nothing)
    with pytest.raises(UsageError, match=r"^a picture of messages needs a fit of messages, got StrideFit\.$"):
        messages(fit_strides(64, [1], [[1.0]], [1.0]))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"^a picture of shares needs a fit of overlap, strides or the bisection, got str\.$"):
        message_shares("x")  # type: ignore[arg-type]


def test_where_a_sender_begins_to_wait() -> None:
    sizes = 2.0 ** np.arange(4, 16)
    times = np.where(sizes > 2048, 1e-3 + 1e-9 * sizes, 2e-6 + 1e-10 * sizes)
    fit = find_rendezvous(sizes, times[:, None] * RNG.lognormal(0, 0.01, (len(sizes), 8)), "1 ms")
    figure = messages(fit)
    names = [one.name for one in figure.data if one.mode == "lines"]
    assert names == ["does not wait", "waits for the receiver"]
    (band,) = figure.layout.shapes
    assert (band.x0, band.x1) == (2048, 4096)
    residuals = np.concatenate([one.y for one in figure.data if one.yaxis == "y2"])
    assert len(residuals) == len(sizes)
    assert np.abs(residuals).max() < 5
    never = messages(find_rendezvous(sizes, 2e-6 + 1e-10 * sizes, "1 ms"))
    assert not never.layout.shapes
    with pytest.raises(UsageError, match=r"^this fit keeps no measured values; fit it again with find_rendezvous\.$"):
        messages(replace(fit, lines=()))
