"""What to use instead: choices, ranges in words, and the profile file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalkit.errors import DataError
from scalkit.guidelines import Assessment, Guideline, assess
from scalkit.guidelines.choices import choices, remedies
from scalkit.guidelines.profile import load_profile, profile


def table(times: Any, sizes: tuple[int, ...] = (8, 64, 512), ps: tuple[int, ...] = (4, 8, 16), **more: Any) -> dict[str, Any]:
    """Columns of 12 runs; `times(operation, p, size)` says how long it takes."""
    rng = np.random.default_rng(7)
    rows = [
        (operation, p, size, run, time * rng.lognormal(0, 0.005))
        for operation, one in times.items()
        for p in ps
        for size in sizes
        for run in range(12)
        if (time := one(p, size)) is not None
    ]
    found = {name: [row[k] for row in rows] for k, name in enumerate(("operation", "p", "size", "run", "time"))}
    return found | {name: [value] * len(rows) for name, value in more.items()}


@pytest.fixture(scope="module")
def bcast() -> Assessment:
    """MPI_Bcast is slow on 8 and 16 processes from 64 bytes on, and on 4 with 512; two alternatives, one of them better."""
    times = {
        "MPI_Bcast": lambda p, size: 2.0 if size == 512 or (p > 4 and size == 64) else 1.0,
        "MPI_Scatter": lambda p, size: 0.5,
        "MPI_Allgather": lambda p, size: 1.0 if size < 512 else 0.9,
        "MPI_Alltoall": lambda p, size: 1.9,
    }
    return assess(table(times), ["MPI_Bcast <= MPI_Scatter + MPI_Allgather", "MPI_Bcast <= MPI_Alltoall"])


def test_of_several_alternatives_the_fastest_counts(bcast: Assessment) -> None:
    found = choices(bcast)
    assert len(found) == 9
    better = {(one.p, one.size): one for one in found if one.is_better}
    assert set(better) == {(4, 512), (8, 64), (8, 512), (16, 64), (16, 512)}
    assert {one.use for one in better.values()} == {"MPI_Scatter + MPI_Allgather"}
    assert better[8, 512].ratio == pytest.approx(2 / 1.4, rel=0.01)
    assert better[8, 512].ratio_low < better[8, 512].ratio < better[8, 512].ratio_high


def test_ranges_hold_what_is_violated_and_nothing_else(bcast: Assessment) -> None:
    (one,) = remedies(bcast)
    assert [(r.p, r.size) for r in one.ranges] == [((4, 4), (512, 512)), ((8, 16), (64, 512))]
    assert one.sentence == (
        "Call MPI_Scatter and then MPI_Allgather instead of MPI_Bcast, for p = 4, size = 512; or p = 8 to 16, size = 64 to 512. "
        "The latter takes 1.33 to 1.43 times as long."
    )


def test_either_side_of_a_similarity_may_be_the_slow_one() -> None:
    times = {"a": lambda p, size: 1.0 if size < 512 else 1.3, "b": lambda p, size: 1.0 if size > 8 else 1.3}
    found = assess(table(times), "a ~ b")
    said = [one.sentence for one in remedies(found)]
    assert [one.split(",")[0] for one in sorted(said)] == ["Call a instead of b", "Call b instead of a"]
    assert all("takes 1.3" in one for one in said)
    (slow,) = {one.ratio for one in choices(found) if one.level == "b" and one.is_better and one.p == 4}
    assert slow == pytest.approx(1.3, rel=0.01)


def test_other_parameters_sizes_and_what_nothing_replaces() -> None:
    columns = table({"a": lambda p, size: 1.0 if size != 64 else 9.0})
    found = assess(columns, [Guideline(kind="monotony", parameter="size"), Guideline(kind="split", parameter="size")])
    said = " ".join(one.sentence for one in remedies(found))
    assert "Pad to size=512 where it is size=64, for p = 4 to 16. Otherwise it takes 8.99 to 9.03 times" in said
    assert "Send pieces of size=8 where it is size=64, for p = 4 to 16" in said
    flags = [{**table({"a": lambda p, size, t=t: t}), "order": [order] * 108} for t, order in ((1.0, "x"), (1.5, "y"))]
    both = {name: [*flags[0][name], *flags[1][name]] for name in flags[0]}
    (one,) = remedies(assess(both, "order=y <= order=x"))
    assert one.sentence.startswith("Choose order=x instead of order=y, for p = 4 to 16, size = 8 to 512. ")
    sums = assess(table({"a": lambda p, size: 2.0, "b": lambda p, size: 1.0}), ["a + b <= b", "2*a <= b", "a <= max(b, b)"])
    assert sums.counts["violated"] == 27
    assert remedies(sums) == ()


def test_oversubscribed_measurements_replace_nothing(tmp_path: Path) -> None:
    times = {"MPI_Gather": lambda p, size: 2.0, "MPI_Allgather": lambda p, size: 1.0}
    found = assess(table(times, oversubscribed=True), "MPI_Gather <= MPI_Allgather")
    assert found.counts["violated"] == 9
    (one,) = remedies(found)
    assert one.sentence.endswith(
        "This was measured with more processes than cores, or next to other programs, and does not decide."
    )
    assert not any(one.decides for one in profile(found).choices)


def test_a_profile_is_kept_and_asked(bcast: Assessment, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    made = profile(bcast)
    path.write_text(made.to_json(), encoding="utf-8")
    again = load_profile(path)
    assert [repr(one) for one in again.choices] == [repr(one) for one in made.choices]
    assert again.about == made.about
    assert made.about["headline"] == bcast.headline
    use = {(one.p, one.size): one.use for one in again.choices}
    assert use[8, 64] == use[16, 512] == "MPI_Scatter + MPI_Allgather"
    assert use[8, 8] == "MPI_Bcast"
    assert repr(again) == "<Profile: 5 of 9 choices are better than the call itself>"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: one.update(format="x"), "format: 'scalkit-profile' was expected"),
        (lambda one: one.pop("choices"), "'choices' is a required property"),
        (lambda one: one["choices"][0].update(kind="x"), "choices[0].kind: 'x' is not one of"),
        (lambda one: one["choices"][0].update(terms=[[-1, "a"]]), "choices[0].terms[0][0]: -1 is less than or equal to"),
    ],
)
def test_a_file_that_is_no_profile_is_refused(bcast: Assessment, tmp_path: Path, change: Any, said: str) -> None:
    path = tmp_path / "p.json"
    content = json.loads(profile(bcast).to_json())
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(DataError, match=f"^{re.escape(f'{path} is no profile: {said}')}"):
        load_profile(path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="is no profile: it is not valid JSON; name a file of --profile"):
        load_profile(path)
    with pytest.raises(DataError, match=r"cannot read the profile .*: No such file or directory"):
        load_profile(tmp_path / "nothing")
