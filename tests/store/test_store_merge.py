"""Merging is a join: in any order, twice or in pairs, the bytes and the hidden runs are the same."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from needs import needs_ssh_keygen
from store_content import files_of

import scalkit as sk
from scalkit.store.statements import in_effect

Plan = Any
"""A store by its place, or two plans to merge."""


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> list[sk.store.Store]:
    """Return three stores: all have one run, each filed by others; they contradict each other about it and about another."""
    folder = tmp_path_factory.mktemp("sites")
    stores = [sk.store.open(folder / f"site{k}") for k in range(3)]
    shared = sk.measurements([2, 4], [[1e-6, 2e-6], [3e-6, 4e-6]], name="MPI_Scan")
    for k, store in enumerate(stores):
        store.put(shared, machine="shared", contributor=f"contributor {k}")
        store.put(sk.measurements([2, 4], [[1e-6 * (k + 2), 2e-6], [3e-6, 4e-6]], name="MPI_Scan"), machine=f"machine {k}")
    (run_id,) = stores[0].runs(machine="shared")["run_id"]
    when = {"when": "2026-11-01T12:00:00Z"}
    for k, more in enumerate(({}, {"restored": "yes"}, {})):
        statement = {"run_id": run_id, "reason": f"reason {k}", "by": f"site {k}", **when, **more}
        stores[k].folder.add_records("statements", [statement])
    (other,) = stores[1].runs(machine="machine 1")["run_id"]
    stores[1].retract(other, "wrong clock")
    return stores


@pytest.fixture(scope="module")
def copied_sites(tmp_path_factory: pytest.TempPathFactory, sites: list[sk.store.Store]) -> list[sk.store.Store]:
    """Return the same stores with more in each: copies of each other's runs, of its own runs, and signed statements."""
    folder = tmp_path_factory.mktemp("copied")
    stores = [sk.store.open(shutil.copytree(one.path, folder / one.path.name)) for one in sites]
    raw = np.rint(np.random.default_rng(2).lognormal(np.log(2e4), 0.1, (3, 40)))
    noisy = np.rint(raw * np.random.default_rng(3).normal(1, 0.005, raw.shape))
    for store, name, times in (
        (stores[0], "original", raw),
        (stores[1], "noisy", noisy),
        (stores[2], "part", raw[:, :30]),
        (stores[2], "again", raw),
        (stores[2], "constant", np.full((3, 40), 1.0) * [[7001], [8009], [9013]]),
    ):
        store.put(sk.measurements([2, 4, 8], times * 1e-9, name="MPI_Scan"), machine=name)
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    sk.store.trust("friend@lab.org", f"{key}.pub", signers=folder / "signers")
    (noisy_id,) = stores[1].runs(machine="noisy")["run_id"]
    stores[1].sign(key, noisy_id, name="friend@lab.org")
    (constant,) = stores[2].runs(machine="constant", retracted=True)["run_id"]
    stores[2].restore(constant, "it was a simulator", by="friend@lab.org", key=key)
    stores[2].retract(constant, "so it does not belong here", by="somebody")
    return [sk.store.open(one.path, signers=folder / "signers") for one in stores]


PLANS = st.recursive(st.integers(0, 2), lambda plans: st.tuples(plans, plans), max_leaves=5)


@needs_ssh_keygen
@pytest.mark.slow
@settings(max_examples=10, deadline=None, phases=[Phase.generate])  # shrinking would merge for minutes
@given(plan=PLANS.filter(lambda plan: not isinstance(plan, int)))
def test_random_merges_give_the_same_bytes_and_hide_the_same_runs(
    plan: Plan, copied_sites: list[sk.store.Store], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Copies, signatures and statements that contradict each other included; into empty stores and into what is there."""
    folder = tmp_path_factory.mktemp("plan")
    signers = copied_sites[0].path.parent / "signers"

    def made(plan: Plan) -> Path:
        path = folder / f"s{len(list(folder.iterdir()))}"
        if isinstance(plan, int):
            return Path(shutil.copytree(copied_sites[plan].path, path))
        into, other = (made(part) for part in plan)
        sk.store.open(into, signers=signers).merge(other)
        return into

    def leaves(plan: Plan) -> set[int]:
        return {plan} if isinstance(plan, int) else leaves(plan[0]) | leaves(plan[1])

    found = sk.store.open(made(plan), signers=signers)
    whole = sk.store.open(folder / "whole", signers=signers)
    for k in sorted(leaves(plan)):
        whole.merge(copied_sites[k].path)
    assert files_of(found) == files_of(whole)
    assert found.retractions() == whole.retractions()
    assert found.points().equals(whole.points())
    if leaves(plan) == {0, 1, 2}:
        hidden = set(whole.runs(retracted=True)["machine"]) - set(whole.runs()["machine"])
        assert len({"original", "part", "again"} & hidden) >= 2
        assert not {"noisy", "constant"} & hidden  # a friend whom the reader trusts signed them


def _merged(path: Path, others: Sequence[sk.store.Store]) -> sk.store.Store:
    store = sk.store.open(path)
    for other in others:
        store.merge(other.path)
    return store


def test_merging_in_another_order_gives_the_same_bytes(sites: list[sk.store.Store], tmp_path: Path) -> None:
    one = _merged(tmp_path / "one", [sites[0], sites[1]])
    other = _merged(tmp_path / "other", [sites[1], sites[0], sites[1]])
    assert files_of(one) == files_of(other)
    assert one.retractions() == other.retractions()


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
def test_merging_three_stores_is_a_join(sites: list[sk.store.Store], tmp_path: Path, order: tuple[int, ...]) -> None:
    """In any order, twice, in pairs, into a copy of one of them: the same bytes, and the same runs are hidden."""
    ordered = [sites[k] for k in order]
    whole = _merged(tmp_path / "whole", ordered)
    files = files_of(whole)
    copied = sk.store.open(shutil.copytree(ordered[0].path, tmp_path / "copied"))
    pair = _merged(tmp_path / "pair", ordered[1:])
    for store in (
        _merged(tmp_path / "pairs", [pair, ordered[0]]),
        _merged(copied.path, [pair]),
        _merged(whole.path, ordered[:1]),
    ):
        assert files_of(store) == files
        assert store.retractions() == whole.retractions()
        assert store.points().equals(whole.points())
    assert [len(one) for one in (whole.folder.statements(), whole.runs(retracted=True))] == [4, 4]


STATEMENTS = st.lists(
    st.builds(
        lambda run, reason, when, restored: {
            "run_id": run * 32,
            "reason": reason,
            "by": "",
            "when": f"2026-11-01T12:00:0{when}Z",
            **({"restored": "yes"} if restored else {}),
        },
        st.sampled_from("ab"),
        st.sampled_from(["first", "second", "trusted"]),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=8,
)


@given(STATEMENTS, st.randoms())
def test_what_is_retracted_does_not_depend_on_the_order_of_statements(
    statements: list[dict[str, str]], rng: random.Random
) -> None:
    def is_trusted(statement: Mapping[str, str]) -> bool:
        return statement["reason"] == "trusted"

    shuffled = rng.sample(statements, len(statements))
    for signed in ((), ("a" * 32,)):
        effective = in_effect(statements, is_trusted, signed)
        assert effective == in_effect([*shuffled, *statements], is_trusted, signed)
        for run_id in {one["run_id"] for one in statements}:
            own = [one for one in statements if one["run_id"] == run_id]
            counted = [one for one in own if is_trusted(one)] or own
            last = [one for one in counted if one["when"] == max(one["when"] for one in counted)]
            is_hidden = run_id in {one["run_id"] for one in effective}
            if run_id in signed and not is_trusted(last[0]):
                assert not is_hidden
            elif len({"restored" in one for one in last}) == 1:
                assert is_hidden == ("restored" not in last[0])
