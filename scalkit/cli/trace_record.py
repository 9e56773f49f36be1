"""The word ``run`` of `scalkit trace`: a program is recorded while it runs, and a page says who waited."""

import argparse
import contextlib
import json
import re
import sys
import webbrowser
from pathlib import Path

from scalkit.cli.options.command import require_command, run_preloaded
from scalkit.cli.terminal.profiles import profile_text
from scalkit.errors import DataError, UsageError
from scalkit.support.files import whole_file
from scalkit.support.native import build, sources
from scalkit.trace.calls.profile import write_lines

_OF_TRACE = re.compile(
    r"[0-9]{6,}\.(sktrace|live|sites|profile)|(trace|lines|profile|calls)\.json|waits\.(nc|html|verdict\.json|junit\.xml)|calls\.html"
)


def run(args: argparse.Namespace) -> int:
    """Record the program, and show what was recorded unless told not to; the status is 1 if the program fails."""
    status, folders = _record(args)
    if not args.record_only:
        name = " ".join([Path(args.program[0]).name, *args.program[1:]])
        show = _show_profile if args.profile_only else _show
        pages = [show(folder, name) for folder in folders]
        if not args.no_open:
            webbrowser.open(pages[0].absolute().as_uri())
    return status


def _show(folder: Path, name: str) -> Path:
    """Print the waits of a trace, the longest first; write the page on them, and return it. What is wrong is named there."""
    from scalkit.cli.trace import text_of
    from scalkit.reports import write_report
    from scalkit.trace import analyse, write_result

    ds = analyse(folder, keep_going=True)
    write_result(ds, folder / "waits.nc")
    sys.stdout.write("\n" + text_of(ds) + "\n")
    page = write_report("waiting", folder / "waits.html", runs=[folder], keep_going=True, title=f"Who waits for whom in {name}?")
    sys.stdout.write(f"wrote {page.html}\n")
    return page.html


def _show_profile(folder: Path, name: str) -> Path:
    """Print what a program spent in MPI; write ``calls.json`` and the page, and return that."""
    from scalkit.reports import write_report
    from scalkit.trace.calls.profile import read_profile

    profile = read_profile(folder)
    sys.stdout.write("\n" + profile_text(profile) + "\n")
    with whole_file(folder / "calls.json", DataError) as part:
        part.write_text(json.dumps(profile.to_dict(), indent=1) + "\n", encoding="utf-8")
    page = folder / "calls.html"
    write_report("calls", page, force=True, folder=folder, title=f"What does {name} spend in MPI?")
    sys.stdout.write(f"wrote {page} and {folder / 'calls.json'}\n")
    return page


def _record(args: argparse.Namespace) -> tuple[int, list[Path]]:
    """Run the command with the recorder preloaded; return 1 if it fails, else 0, and the folders of its traces."""
    settings = _settings(args)
    folder = Path(args.dir).absolute()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{args.dir} is a file; name a folder.")
    if folder.exists() and any(folder.iterdir()) and not _is_trace(folder):
        raise UsageError(f"{args.dir} holds something that is no trace; name another folder.")
    require_command(args.program)
    built = build(sources("microbench"), args.mpicc, makefile="trace/Makefile")
    library = built.program("libskprofile.so" if args.profile_only else "libsktrace.so")
    header = "profile.json" if args.profile_only else "trace.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear(folder)
    except OSError as error:
        raise UsageError(f"{args.dir} cannot be written: {error.strerror or error}; name another folder.") from error
    status = run_preloaded(args.program, library, {"SCALKIT_TRACE": str(folder), **settings})
    if not (folder / header).is_file():
        raise UsageError(
            f"{args.program[0]!r} ended with status {status} and recorded nothing; check that it starts a program of the MPI "
            f"library of {args.mpicc!r}, and hands LD_PRELOAD and SCALKIT_TRACE on (Open MPI: -x LD_PRELOAD -x SCALKIT_TRACE)."
        )
    own = Path(args.dir)
    folders = [own, *(own / str(k) for k in range(2, 10_000) if (own / str(k) / header).is_file())]
    if len(folders) > 1:
        sys.stdout.write(
            f"{len(folders)} programs were recorded, each to a folder of its own; if it was meant to be one, start it with "
            "the mpiexec of its MPI library\n"
        )
    for one in folders:
        if args.profile_only:
            ended = f"{args.program[0]!r} ended with status {status}; " if status else ""
            sys.stdout.write(f"{ended}counted the calls in {one}; see them with: scalkit trace analyse {one}\n")
        else:
            write_lines(one)
            sys.stdout.write(_recorded(one, args.program[0], status))
    return (1 if status else 0), folders


def _settings(args: argparse.Namespace) -> dict[str, str]:
    """Return the variables of the recorder; those that no option sets keep what the environment says.

    Raises UsageError if options do not go together.
    """
    if args.profile_only and (args.leave_out or args.stacks):
        raise UsageError("--profile-only counts all calls by place; leave --leave-out and --stacks out.")
    settings = {"SCALKIT_TRACE_LINES": "1"}
    if args.stacks:
        settings["SCALKIT_TRACE_STACKS"] = args.stacks
    if args.leave_out:
        for name in args.leave_out:
            if not name or "," in name:
                raise UsageError(f"--leave-out {name!r} is no name of a function or region; write one, as in MPI_Iprobe.")
        settings["SCALKIT_TRACE_LEAVE_OUT"] = ",".join(args.leave_out)
    return settings


def _is_trace(folder: Path) -> bool:
    """Return whether a folder is one of a trace or profile, so that it may be cleared; others write a ``trace.json``, too."""
    from scalkit.trace.files.reader import read_header

    if any(folder.glob("[0-9]*.profile")):
        return True
    try:
        read_header(folder)
    except DataError:
        return any(folder.glob("*.sktrace"))
    return True


def _clear(folder: Path) -> None:
    """Delete a trace, those of further programs within it, and what `run` makes of them; nothing else."""
    for one in folder.iterdir():
        if _OF_TRACE.fullmatch(one.name):
            one.unlink()
        elif one.name.isdecimal() and any((one / name).is_file() for name in ("trace.json", "profile.json")):
            _clear(one)
            with contextlib.suppress(OSError):
                one.rmdir()


def _recorded(folder: Path, program: str, status: int) -> str:
    """Return what there is of a recording, and how to see it."""
    from scalkit.trace.files.reader import read_header, read_location

    header = read_header(folder)
    size = sum(path.stat().st_size for path in folder.iterdir() if _OF_TRACE.fullmatch(path.name))
    calls, cut = 0, {}
    for location in range(header.locations):
        found = read_location(header, location)
        calls += len(found.tables["calls"]["number"])
        if found.problems:
            cut[location] = found.problems[-1].text
    if not cut:
        more = f"; {program!r} ended with status {status}" if status else ""
        return f"recorded {size} bytes in {folder}{more}; see them with: scalkit trace analyse {folder}\n"
    first, text = next(iter(cut.items()))
    who = f"location {first}" if len(cut) == 1 else f"{len(cut)} of {header.locations} locations"
    why = "did not come to MPI_Finalize" if status else f"was not recorded to its end, {text}"
    ended = f"{program!r} ended with status {status}: {who} {why}"
    if not calls:
        return f"{ended}, and no call was recorded in {folder}\n"
    see = f"see them with: scalkit trace analyse {folder} --keep-going"
    return f"{ended}; recorded until then: {calls} calls in {folder}; {see}\n"
