"""Numbers, sizes and rules as options of `scalkit measure` and its relatives name them."""

import re
import secrets
from pathlib import Path

from scalkit.bench import Arguments
from scalkit.bench.campaign.folder import Folder
from scalkit.errors import UsageError
from scalkit.support.text import as_percent


def words_of(text: str) -> tuple[str, ...]:
    """Return the words between commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def numbers(option: str, text: str, example: str) -> tuple[int, ...]:
    """Return whole numbers between commas. Raises UsageError if there are none, or something else."""
    words = words_of(text)
    if not words or not all(word.isascii() and word.isdecimal() and len(word) < 11 for word in words):
        raise UsageError(f"{option} {text:.60}: whole numbers are needed, such as {option} {example}.")
    return tuple(map(int, words))


def counts_of(text: str, option: str) -> tuple[int, ...]:
    """Return numbers of processes between commas, or the powers of two of a range. Raises UsageError if they cannot be read."""
    return _powers_of(text, f"{option} {text}", f"{option} 2..1024") or _counts(text, option)


def _counts(text: str, option: str) -> tuple[int, ...]:
    words = words_of(text)
    if not all(word.isascii() and word.isdecimal() and len(word) < 10 for word in words):
        raise UsageError(f"{option} {text}: numbers of processes are needed, such as {option} 2,4,8,16,32.")
    return tuple(map(int, words))


def sizes_of(text: str) -> tuple[int, ...]:
    """Return message sizes between commas, or the powers of two of a range, ascending. Raises UsageError if there are none."""
    found = _powers_of(text, f"--size {text}", "--size 8..65536") or numbers("--size", text, "8,64,512")
    if list(found) != sorted(set(found)):
        raise UsageError(f"--size {text:.60}: name each size once, ascending.")
    return found


def _powers_of(text: str, said: str, example: str) -> tuple[int, ...]:
    """Return the powers of two of a range such as ``2..64``; nothing if it is none. Raises UsageError if there are none."""
    ends = re.fullmatch(r"\s*([0-9]{1,10})\s*\.\.\s*([0-9]{1,10})\s*", text)
    if ends is None:
        return ()
    low, high = map(int, ends.groups())
    powers = tuple(2**i for i in range(31) if low <= 2**i <= high)
    if not powers:
        raise UsageError(f"{said}: there is no power of two from {low} to {high}; write as in {example}.")
    return powers


def seed_of(given: int | None, folder: Path) -> int:
    """Return the seed that was given, else that of the campaign in a folder, else a drawn one."""
    kept = Folder(folder).record.get("arguments", {}).get("seed") if given is None and folder.is_dir() else given
    return kept if isinstance(kept, int) else secrets.randbelow(2**31)


def rules_in_words(own: Arguments) -> list[str]:
    """Return when repetitions end and what is refined, if the file says it."""
    lines = []
    if own.standard_error is not None:
        cut = ",".join(map(str, own.cut_quartiles))
        cut = f" without quarter{'s' if len(cut) > 1 else ''} {cut}" if cut else ""
        error = f"{as_percent(own.standard_error, 'g')} of the mean{cut}"
        lines.append(f"until the standard error is {error}, with {own.min_reps} to {own.max_reps} repetitions")
    if own.refine is not None:
        miss, most = as_percent(own.refine.allowed, "g"), own.refine.max_points
        lines.append(f"refines {own.refine.over} where lines from both sides miss by more than {miss}, up to {most} points")
    return lines
