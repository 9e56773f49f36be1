"""The machine of virtual time: names, files, cards and numbers are read; what makes no sense is refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from scalkit.bench.virtual.network import NETWORKS, Network, read_network
from scalkit.errors import UsageError
from scalkit.perfmodels.played import Machine

TYPED = "L=1us,o=0.3us,g=0.2us,G=0.08ns/B"


@pytest.mark.parametrize("name", NETWORKS)
def test_bundled_networks_have_numbers_inside_a_node_that_are_smaller(name: str) -> None:
    network = read_network(name)
    assert network.inside is not None
    assert (network.name, network.per_node) == (name, None)
    assert all(getattr(network.inside, key) < getattr(network, key) for key in ("L", "o", "g", "G"))
    assert "chosen, not measured" in Path(f"scalkit/bench/virtual/networks/{name}.toml").read_text()


def test_numbers_become_the_words_of_the_layer_and_the_facts_of_run_files() -> None:
    network = read_network(TYPED)
    assert network.words == "L=1000 o=300 g=200 G=0.08"
    assert network.facts == {"network": TYPED, "L_s": 1e-6, "o_s": 3e-7, "g_s": 2e-7, "G_s_per_B": 8e-11, "per_node": 1}
    inside = read_network(f"{TYPED},inside_L=200ns,inside_o=100ns,inside_g=50ns,inside_G=50ps/B").with_per_node(4)
    assert inside.words == f"{network.words} per_node=4 inside_L=200 inside_o=100 inside_g=50 inside_G=0.05"
    assert inside.facts["inside"] == {"L_s": 2e-7, "o_s": 1e-7, "g_s": 5e-8, "G_s_per_B": 5e-11}
    assert inside.with_per_node(1).words == network.words
    assert inside.with_per_node(None) == inside


def test_a_model_card_gives_its_loggp_numbers_and_the_mean_of_both_overheads() -> None:
    network = read_network("data/models/mpich-5.0.2.toml")
    assert network.o == pytest.approx((2.556998079885641e-07 + 5.786876858706972e-07) / 2)
    assert (network.name, network.inside) == ("mpich-5.0.2", None)


def test_switches_make_the_way_longer() -> None:
    tree, dragonfly = read_network("fat-tree"), read_network(f"{TYPED},hop=100ns,dragonfly=4x2")
    assert tree.words.endswith(" hop=200 tree=4")
    assert dragonfly.words.endswith(" hop=100 routers=4 hosts=2")
    assert dragonfly.facts["hop_s"] == 1e-7
    near, far = Machine.of(**tree.machine), Machine.of(**dragonfly.machine)
    assert [near.latency(0, other) - near.L for other in (3, 4, 15, 16, 64)] == [0, 400_000, 400_000, 800_000, 1_200_000]
    # 0 and 1 share a router; a link within the group; group 1 lies behind router 0 of group 0, group 2 behind router 1
    assert [far.latency(0, other) - far.L for other in (1, 2, 7, 8, 10, 16, 18)] == [0, *[100_000] * 3, 200_000, 200_000, 300_000]
    assert all(far.latency(a, b) == far.latency(b, a) for a in range(40) for b in range(40))


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('L = "2 us"\no = "1 us"\ng = "1 us"\nG = "1 ns/B"\nper_node = 2\n[inside]\n' + _numbers())
    assert read_network(str(path)).words.startswith("L=2000 o=1000 g=1000 G=1 per_node=2 inside_L=1000")


def _numbers() -> str:
    return 'L = "1 us"\no = "1 us"\ng = "1 us"\nG = "1 ns/B"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "clutser",
            "the network 'clutser' is unknown; choose cluster, ethernet, fat-tree, dragonfly, a TOML file, or numbers such as "
            "L=1us,o=0.3us,g=0.1us,G=0.08ns/B.",
        ),
        (f"{TYPED},tree=4", f"the network '{TYPED},tree=4': hop goes with tree or dragonfly, and with one of them."),
        (
            f"{TYPED},hop=1ns,tree=1",
            f"the network '{TYPED},hop=1ns,tree=1': a switch has 2 to 4096 below it, a router 1 to 4096 beside it.",
        ),
        (f"{TYPED},hop=1ns,tree=4.5", f"the network '{TYPED},hop=1ns,tree=4.5': tree is '4.5'; a whole number is needed."),
        (
            f"{TYPED},hop=1ns,dragonfly=4",
            f"the network '{TYPED},hop=1ns,dragonfly=4': dragonfly is '4'; routers and nodes on each, such as 4x2, is needed.",
        ),
        ("nowhere.toml", "cannot read the network 'nowhere.toml': No such file or directory; name a TOML file."),
        ("L=1us,L=2us", "the network 'L=1us,L=2us' has 'L' twice; name each number once."),
        ("L=1us", "the network 'L=1us': o is missing; L, o, g and G are needed."),
        (
            f"{TYPED},x=1us",
            f"the network '{TYPED},x=1us': 'x' is unknown; known are L, o, g, G, inside, per_node, hop, tree, dragonfly.",
        ),
        (f"{TYPED},inside_L=1us", f"the network '{TYPED},inside_L=1us', inside: o is missing; L, o, g and G are needed."),
        (
            "L=1,o=1us,g=1us,G=1ns/B",
            "the network 'L=1,o=1us,g=1us,G=1ns/B': L is '1'; a number with its unit is needed, such as 1us.",
        ),
        (
            "L=1us,o=1us,g=1us,G=1ns",
            "the network 'L=1us,o=1us,g=1us,G=1ns': G is '1ns'; a number with its unit is needed, such as 0.08ns/B.",
        ),
        (
            "L=nanus,o=1us,g=1us,G=1ns/B",
            "the network 'L=nanus,o=1us,g=1us,G=1ns/B': L is 'nanus'; a number with its unit is needed, such as 1us.",
        ),
        (
            "L=1us,o=-1us,g=1us,G=1ns/B",
            "the network 'L=1us,o=-1us,g=1us,G=1ns/B': o is -1e-06 s; a number from 0 to 1000 s is needed.",
        ),
        (
            "L=0us,o=1us,g=1us,G=1ns/B",
            "the network 'L=0us,o=1us,g=1us,G=1ns/B': L is 0 s; at least 1 ns is needed, for nothing arrives when it is sent.",
        ),
        (
            "data/models/intel-2021.16.0.toml",
            "the network 'intel-2021.16.0': L is 0 s; at least 1 ns is needed, for nothing arrives when it is sent.",
        ),
    ],
)
def test_what_is_no_network_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_network(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("L = ", "cannot read the network '{path}': Invalid value (at end of document); name a TOML file."),
        ("inside = 3\n" + _numbers(), "the network '{path}': inside is 3; a table with L, o, g and G is needed."),
        ('per_node = "x"\n' + _numbers(), "the network '{path}': per_node is 'x'; a whole number from 1 to 9999 is needed."),
        ("L = 3\n" + _numbers()[11:], "the network '{path}': L is 3; a number with its unit is needed, such as 1us."),
        (
            "[quantities.L]\nvalue = 1e-6\n",
            "the model card '{path}' has no number o_send; fit LogGP with 'scalkit model fit', or write the numbers of a "
            "network yourself.",
        ),
        (
            "per_node = 4\n" + _numbers(),
            "the network 'mine' has no numbers for the inside of a node, which 4 processes on a node need; add [inside], or "
            "inside_L and so on, or leave --per-node out.",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(content)
    with pytest.raises(UsageError) as caught:
        read_network(str(path))
    assert str(caught.value) == message.format(path=path)


def test_processes_on_a_node_are_a_positive_number() -> None:
    with pytest.raises(UsageError) as caught:
        Network("n", 1e-6, 0, 0, 0).with_per_node(0)
    assert str(caught.value) == "the network 'n': 0 processes on a node; a whole number from 1 to 9999 is needed."
