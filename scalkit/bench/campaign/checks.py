"""What a schema cannot say about a campaign file: names that are unknown, numbers that do not fit each other."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scalkit.bench.arguments import DATATYPES, FUNCTIONS, GROUPS, KINDS, NEIGHBOURHOOD, Arguments, choose, operations
from scalkit.bench.campaign.refinement import Refinement
from scalkit.bench.libraries.platforms import load_platform
from scalkit.bench.libraries.simulator import read_algorithms
from scalkit.bench.patterns.neighbourhood import design_text, experiments
from scalkit.bench.virtual.network import read_network
from scalkit.errors import UsageError
from scalkit.measure.quarter_means import Cut
from scalkit.native import sources
from scalkit.schema_errors import hint, place
from scalkit.toml.tables import EntryPath

_KEYS = {
    "--platform": "platform",
    "--per-node": "processes_per_node",
    "-n ": "processes ",
    "--ops": "functions",
    "--size": "sizes",
    "max_points": "refine.max_points",
}


class Checks:
    """What a schema cannot say about a table."""

    def __init__(self, table: Mapping[str, Any], lines: Mapping[EntryPath, int], name: str, base: Path) -> None:
        self._base = base
        self._table = table
        self._lines = lines
        self._name = name
        self._found: list[str] = []

    def errors(self) -> list[str]:
        """Return a sentence for each error."""
        self._functions()
        self._own_functions()
        self._experiments()
        self._sizes()
        self._libraries()
        self._platforms()
        self._clock()
        self._rules()
        return self._found

    def _say(self, path: EntryPath, text: str) -> None:
        self._found.append(f"{place(self._name, path, self._lines)}: {text}")

    def _rules(self) -> None:
        """Say what is wrong with when to stop, and with what is refined."""
        least, most = self._table.get("min_reps", Arguments.min_reps), self._table.get("max_reps", Arguments.max_reps)
        if least > most:
            key = "min_reps" if "min_reps" in self._table else "max_reps"
            self._say((key,), f"min_reps is {least}, max_reps {most}; lower the first or raise the second.")
        self._try(("cut_quartiles",), Cut.of, self._table.get("cut_quartiles", ()))
        if "refine" not in self._table:
            return
        over = self._table["refine"]["over"]
        rules = Refinement(**self._table["refine"])
        first = self._table.get("sizes", [8]) if over == "sizes" else self._table["processes"]
        self._try((over if over in self._table else "refine",), rules.require_points, sorted(first))
        if over == "sizes" and first != sorted(first):
            self._say(("sizes",), "sizes that are refined must ascend.")
        if not {"collectives", FUNCTIONS} & set(self._table["measure"]):
            self._say(("refine",), "refine follows run times; add 'collectives' to measure, or leave it out.")
        if "slurm" in self._table:
            self._say(
                ("refine",),
                "refine measures point after point, which jobs cannot; leave out slurm, and 'scalkit campaign run' it in one "
                "allocation.",
            )

    def _functions(self) -> None:
        tree = sources("microbench")
        every = {kind: operations(tree, kind) for kind in KINDS}
        kinds = [kind for kind in self._table["measure"] if kind not in (FUNCTIONS, NEIGHBOURHOOD)]
        known = [*(name for kind in kinds for name in every[kind]), *GROUPS]
        wanted = self._table.get("functions", [])
        unknown = [(number, name) for number, name in enumerate(wanted) if name not in known]
        for number, name in unknown:
            other = next((kind for kind in KINDS if name in every[kind]), None)
            text = f"functions has {name!r}, which {' and '.join(kinds) or 'nothing in measure'} cannot measure"
            way = f"add {other!r} to measure" if other else f"known are {', '.join(known)}"
            self._say(("functions", number), f"{text}{hint(name, known) if not other else ''}; {way}.")
        if unknown:
            return
        self._try(("functions",), choose, tree, kinds, wanted)

    def _own_functions(self) -> None:
        own = self._table.get("own_functions", [])
        if bool(own) != (FUNCTIONS in self._table["measure"]):
            key = "own_functions" if own else "measure"
            text = f"own_functions and {FUNCTIONS!r} in measure go together"
            self._say((key,), f"{text}; add the other, or leave both out.")
            return
        for number, word in enumerate(own):
            file = Path(absolute(word, self._base).partition(".py:")[0])
            file = file if word.endswith(".c") else file.with_suffix(".py")
            if is_file(word) and not file.is_file():
                self._say(("own_functions", number), f"own_functions has {word!r}, and there is no file {file}.")

    def _experiments(self) -> None:
        tables = self._table.get("experiments", [])
        if bool(tables) != (NEIGHBOURHOOD in self._table["measure"]):
            text = f"[[experiments]] and {NEIGHBOURHOOD!r} in measure go together"
            self._say(("experiments" if tables else "measure",), f"{text}; add the other, or leave both out.")
            return
        if tables and self._table["measure"] == [NEIGHBOURHOOD] and "sizes" in self._table:
            self._say(("sizes",), "sizes are those of collectives; neighbourhoods have size in [[experiments]]. Leave it out.")
        found = len(self._found)
        for number, factors in enumerate(tables):
            self._try(("experiments", number), _tried, [factors], self._base, ())
        if tables and len(self._found) == found:
            self._try(("experiments",), _tried, tables, self._base, self._table["processes"])

    def _sizes(self) -> None:
        if len(self._table.get("sizes", ())) > 1 and self._table["measure"] == ["memory"]:
            self._say(("sizes",), "memory has no message size; leave sizes out, or add 'collectives' to measure.")
        datatype = self._table.get("datatype", "byte")
        width = DATATYPES[datatype]
        for number, size in enumerate(self._table.get("sizes", [])):
            if size % width:
                text = f"sizes has {size}, which is no multiple of the {width} B of datatype {datatype!r}"
                self._say(("sizes", number), f"{text}; change one of them.")

    def _libraries(self) -> None:
        named = self._table.get("mpi", [])
        for name in self._table.get("libraries", {}):
            if name not in named:
                text = f"the library {name!r} is not used{hint(name, named)}; add it to mpi, or leave it out"
                self._say(("libraries", name), f"{text}.")

    def _platforms(self) -> None:
        names = platforms_of(self._table)
        if not names:
            if "algorithms" in self._table:
                self._say(("algorithms",), "algorithms are chosen for simulated machines only; name a platform too.")
            return
        if NEIGHBOURHOOD in self._table["measure"]:
            self._say(("measure",), "neighbourhood cannot be simulated; leave it out of measure, or leave out platform.")
        for key, why in (("mpi", "a simulated machine has no MPI library"), ("slurm", "simulations run here")):
            if key in self._table:
                self._say((key,), f"{key} does not go with platform: {why}; leave one of them out.")
        if "memory" in self._table["measure"]:
            self._say(("measure",), "memory cannot be simulated; leave it out of measure, or leave out platform.")
        for name in names:
            self._try(("platform",), self._room_on, name)
        words = [f"{key}={name}" for key, name in self._table.get("algorithms", {}).items()]
        self._try(("algorithms",), read_algorithms, words)

    def _clock(self) -> None:
        """Say what is wrong with the virtual machine, and what does not go with it."""
        if "memory_processes" in self._table and "memory" not in self._table["measure"]:
            self._say(("memory_processes",), "memory is not measured; add 'memory' to measure, or leave it out.")
        if self._table.get("clock") != "virtual":
            if "network" in self._table:
                self._say(("network",), 'network is the machine of a virtual clock; add clock = "virtual".')
            return
        for key, why in (("platform", "that is SimGrid's"), ("slurm", "virtual time runs on one node, here")):
            if key in self._table:
                self._say((key,), f'{key} does not go with clock = "virtual": {why}; leave one of them out.')
        network = absolute(self._table.get("network", "cluster"), self._base)
        for per_node in self._table.get("processes_per_node", [None]):
            self._try(("network",), lambda many: read_network(network).with_per_node(many), per_node)

    def _room_on(self, name: str) -> None:
        platform = load_platform(absolute(name, self._base))
        most = int(max(self._table["processes"]))
        for per_node in self._table.get("processes_per_node", [1]):
            self._try(("processes_per_node",), platform.places, int(per_node))
            if per_node <= platform.cores:
                self._try(("processes",), platform.require_room, most, int(per_node))

    def _try(self, path: EntryPath, check: Callable[..., object], *arguments: object) -> None:
        """Say what a check of something else finds wrong, where it stands in the file."""
        try:
            check(*arguments)
        except UsageError as error:
            self._say(path, _keyed(str(error)))


def _tried(tables: Sequence[Mapping[str, Any]], base: Path, counts: Sequence[int]) -> None:
    experiments([design_text(factors, base) for factors in tables], counts)


def _keyed(message: str) -> str:
    """Return the message about an option with the key of the file in its place."""
    for option, key in _KEYS.items():
        message = message.replace(option, key)
    return message


def is_file(word: str) -> bool:
    """Return whether a word names a file: C or Python of the user, a platform or a network."""
    return word.endswith((".c", ".xml", ".toml")) or ".py:" in word


def absolute(word: str, base: Path) -> str:
    """Return a word as it is, or with the whole path if it names a file."""
    return str((base / word).absolute()) if is_file(word) else word


def platforms_of(table: Mapping[str, Any]) -> list[str]:
    """Return the platforms that a file names."""
    given = table.get("platform", [])
    return [given] if isinstance(given, str) else list(given)
