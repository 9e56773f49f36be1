"""Commands, their words and options, as the files ``commands/*.toml`` declare them."""

import argparse
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from scalkit.support.options import OPTIONS

_FOLDER = Path(__file__).resolve().parents[1] / "commands"


def declare(parser: argparse.ArgumentParser, command: str) -> None:
    """Give a parser the description, the options and the words of a command.

    In ``[options]`` the value of ``"-n --processes"`` is a name in ``shared.toml``, or a table with what
    `argparse.ArgumentParser.add_argument` takes; ``flag`` is an option without a value, ``repeat`` one that may be given again;
    ``choices`` may be those of an option of judging, by its name.
    ``[groups."heading"]`` stand below their heading, of ``[one_of]`` only one may be given, ``judging`` stands for all options
    of `scalkit.support.options.Judging`, or for those in a list. A word has a table ``[words.NAME]`` of the same form.
    """
    table = _table(command)
    parser.description = table["description"]
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    _fill(parser, table)


def given(args: argparse.Namespace, command: str) -> list[str]:
    """Return the names of the options of a command whose values differ from the defaults."""
    parser = argparse.ArgumentParser(add_help=False)
    _fill(parser, _table(command))
    usual = vars(parser.parse_args([]))
    return [name for name, value in usual.items() if getattr(args, name) != value]


def percent(text: str) -> float:
    """Return the number that a part of the time is compared with; NaN would be exceeded by none.

    Raises argparse.ArgumentTypeError if it is not one from 0 to 100.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no percentage; write a number from 0 to 100")
    return value


_TYPES: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "path": Path, "percent": percent}


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def _fill(parser: argparse.ArgumentParser, table: Mapping[str, Any]) -> None:
    _add_options(parser, table.get("options", {}))
    if "one_of" in table:
        _add_options(parser.add_mutually_exclusive_group(), table["one_of"])
    for heading, options in table.get("groups", {}).items():
        _add_options(parser.add_argument_group(heading), options)
    if "words" not in table:
        return
    dest = table.get("word", "word")
    words = parser.add_subparsers(dest=dest, metavar=dest.upper(), required=True)
    for name, word in table["words"].items():
        end = "" if word["help"].endswith("?") else "."
        text = word.get("description") or f"{word['help'][:1].upper()}{word['help'][1:]}{end}"
        is_laid_out = "\n" in text or "epilog" in word
        sub = words.add_parser(
            name,
            help=word["help"],
            description=text,
            epilog=word.get("epilog"),
            formatter_class=argparse.RawDescriptionHelpFormatter if is_laid_out else argparse.HelpFormatter,
        )
        _fill(sub, word)


def _add_options(parser: argparse._ActionsContainer, options: Mapping[str, Any]) -> None:
    for names, option in options.items():
        if names == "judging":
            add_judging(parser, OPTIONS if option == "judging" else option)
            continue
        how = dict(_table("shared")[option] if isinstance(option, str) else option)
        if how.pop("flag", False):
            how["action"] = "store_true"
        elif how.pop("repeat", False):
            how = {"action": "append", "default": [], **how}
        elif isinstance(how.get("default"), int | float):
            how["type"] = type(how["default"])
        if isinstance(how.get("choices"), str):
            how["choices"] = OPTIONS[how["choices"]].metadata["choices"]
        if isinstance(how.get("type"), str):
            how["type"] = _TYPES[how["type"]]
        parser.add_argument(*names.split(), **how)


def add_judging(parser: argparse._ActionsContainer, names: Iterable[str] = OPTIONS) -> None:
    """Declare options of judging, by default all, each as `scalkit.support.options.Judging` says."""
    for name in names:
        one = OPTIONS[name]
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=int if isinstance(one.default, int) else str,
            choices=one.metadata["choices"] or None,
            metavar=one.metadata["metavar"],
            help=one.metadata["help"],
        )
