"""Functions of the user as benchmarks: C files that are compiled and linked with the measuring kernel."""

import hashlib
import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scalkit.bench.libraries.mpi import Mpi
from scalkit.bench.process import Outcome, started
from scalkit.errors import BuildError, UsageError
from scalkit.support.native import Build, build, cache_folder

_C_NAME = re.compile(r"[A-Za-z_]\w*")
_TIME_S = 120.0
_HOW = "name a C file, as in ./my_bcast.c; programs in other languages are measured with --command."


@dataclass(frozen=True)
class UserFunctions:
    """Functions that are ready to be measured.

    `names`: as they stand in run files.
    `command`: program and first arguments of a rank.
    `sha256`: hash of their preprocessed sources.
    """

    names: tuple[str, ...]
    command: tuple[str, ...]
    sha256: str


def user_functions(wanted: Sequence[str], tree: Path, mpi: Mpi) -> UserFunctions:
    """Return functions of the user, compiled and linked with the measuring kernel.

    `wanted`: C files, each with a function of its own name.
    `tree`: the C sources of the measuring kernel.
    Raises UsageError if a file is not a C file, or two have the same name; BuildError if a file
    cannot be compiled, or does not define its function. The message has the compiler's first error.
    """
    names = names_of_functions(wanted)
    kernel = build(tree, mpi.mpicc, library=mpi.library, makefile="user/Makefile")
    return _linked([Path(word) for word in wanted], names, tree, kernel, mpi)


def names_of_functions(wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the names of functions, as they stand in run files. Raises UsageError as `user_functions`."""
    if not wanted:
        raise UsageError(f"--function: nothing is named; {_HOW}")
    names = tuple(map(_name_of, wanted))
    if len(set(names)) < len(names):
        raise UsageError(f"--function: {', '.join(names)} name a function twice; rename one, or measure them apart.")
    return names


def _name_of(word: str) -> str:
    path = Path(word)
    if path.suffix != ".c":
        raise UsageError(f"--function {word!r}: {_HOW}")
    if not path.is_file():
        raise UsageError(f"--function {word!r}: there is no such file; {_HOW}")
    if not _C_NAME.fullmatch(path.stem) or not path.stem.isascii():
        raise UsageError(f"--function {word!r}: the file must be named like its function, and {path.stem!r} is no name in C.")
    if any(character in str(path.absolute()) for character in '"\\\n'):
        raise UsageError(f"--function {word!r}: the path has a quote, a backslash or a line break; move the file.")
    return path.stem


def _linked(files: Sequence[Path], names: tuple[str, ...], tree: Path, kernel: Build, mpi: Mpi) -> UserFunctions:
    flags = shlex.split(os.environ.get("CFLAGS", "-O2 -g"))
    # a simulator's compiler would replace malloc by macros that clash with the headers of the system
    flags = ["-std=gnu11", "-DSMPI_NO_OVERRIDE_MALLOC", f"-I{tree}", f"-I{tree / 'user'}", *flags]
    glue = [
        [*flags, f"-DSK_NAME={name}", f'-DSK_FILE="{path.absolute()}"', str(tree / "user/glue.c")]
        for name, path in zip(names, files, strict=True)
    ]
    digest = hashlib.sha256(kernel.folder.name.encode() + repr(flags).encode())
    for options, name, path in zip(glue, names, files, strict=True):
        whole = _compiled([mpi.mpicc, "-E", "-P", *options], mpi, path, name)
        digest.update(whole.output.encode())
    target = cache_folder("native") / f"functions-{digest.hexdigest()[:20]}"
    program = target / "sk_function"
    if not program.is_file():
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="build-", dir=target) as scratch:
            objects = [str(Path(scratch) / f"{name}.o") for name in names]
            for options, made, name, path in zip(glue, objects, names, files, strict=True):
                _compiled([mpi.mpicc, *options, "-c", "-o", made], mpi, path, name)
            linked = Path(scratch) / "sk_function"
            words = [mpi.mpicc, *flags, "-rdynamic", "-o", str(linked), str(tree / "user/main.c"), *objects]
            words += [str(kernel.program("libsk_function.a")), "-lm", *shlex.split(os.environ.get("LDFLAGS", ""))]
            _compiled(words, mpi, files[0], names[0])
            os.replace(linked, program)
    return UserFunctions(names, (str(program),), digest.hexdigest())


def _compiled(command: list[str], mpi: Mpi, path: Path, name: str) -> Outcome:
    outcome = started(command, BuildError, timeout_s=_TIME_S, environment={**mpi.environment, "LC_ALL": "C"})
    if outcome.status == 0:
        return outcome
    missing = re.search(r"undefined reference to [`'](\w+)'", outcome.output)
    first = next((line for line in outcome.output.splitlines() if re.search(r"\berror:|multiple definition", line)), "")
    signature = f"int {name}(struct sk_call *call)"
    if f"conflicting types for '{name}'" in first:
        raise BuildError(f"{path}: {name!r} has another signature than {signature}. The compiler says: {first.strip()}")
    if missing and missing[1] == name:
        raise BuildError(f"{path} defines no function {name!r}; a function of the file's name is needed, {signature}.")
    if missing:
        raise BuildError(f"{path}: {missing[1]!r} is not defined; define it, or name its library with LDFLAGS.")
    said = first.strip() or (outcome.output.strip().splitlines() or [outcome.ending])[-1]
    raise BuildError(f"compiling {path} with {mpi.mpicc!r} failed: {said}")
