"""A store that lies on a server: a copy of it is fetched by fsspec, read like any folder or zip, and deleted."""

import contextlib
import hashlib
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

from scalkit.errors import MissingPackageError, StoreError
from scalkit.extras import require
from scalkit.store.flags import COPIES
from scalkit.store.folder import EARLIER, MARKER, RUNS
from scalkit.store.records import RECORD_FILE, RECORDS
from scalkit.store.submissions.containers import RUN_FILE, Policy

SUMS = "sha256sums.txt"
"""The list of files that `publish` writes: what is there where a server lists no folders."""

_URL = re.compile(r"[a-z][a-z0-9+.:-]*://[^\s]+", re.I)
_LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
_AT_ONCE, _CHUNK, _SMALL = 8, 1 << 20, 64 << 20
_TIMEOUT_S = 60
_REASONS = {
    "NonHttpUrlRedirectClientError": "it leads to another kind of address",
    "TooManyRedirects": "it leads from one address to the next without an end",
    "ClientPayloadError": "it breaks off",
}


def is_url(place: object) -> bool:
    """Return whether a store is named by a URL, as ``https://...`` or ``s3://...``."""
    return isinstance(place, str) and _URL.fullmatch(place) is not None


def shown(url: str) -> str:
    """Return a URL without the name and password of a user, and without what a signed one is asked with."""
    return re.sub(r"(?<=://)[^/@]*@", "", url).partition("?")[0]


@contextlib.contextmanager
def fetched(url: str, policy: Policy | None = None) -> Iterator[Path]:
    """Provide a copy of the store at a URL: its folder, or its zip.

    Raises StoreError if there is none, the server does not answer, or what it sends breaks off or is too large.
    Raises MissingPackageError if fsspec, or what it needs for this kind of URL, is not here.
    """
    folder = Path(tempfile.mkdtemp(prefix="scalkit-store-"))
    try:
        yield fetch(url, folder, policy or Policy())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fetch(url: str, into: Path, policy: Policy) -> Path:
    """Return where a copy of the store at a URL lies below `into`: its folder, or its zip. Raises as `fetched` does."""
    server = _Server(url)
    if url.partition("?")[0].lower().endswith(".zip"):
        archive = into / "store.zip"
        server.copy("", archive, policy.max_total_bytes)
        if not zipfile.is_zipfile(archive):
            raise StoreError(f"what lies at {server.shown!r} is no zip; check the address, or name the folder of a store.")
        return archive
    server.copy(SUMS, into / SUMS, _SMALL, may_lack=True)
    sums = _sums(into / SUMS)
    for name in EARLIER:  # they are refused when the copy is opened
        server.copy(name, into / name, _SMALL, may_lack=True)
    marked = server.copy(MARKER, into / MARKER, _SMALL, may_lack=True)
    if marked is None or not (into / MARKER).read_bytes().lstrip().startswith(b"{"):  # some servers answer all with a page
        lacks = f"it has no {MARKER}" if marked is None else f"its {MARKER} is something else"
        raise StoreError(f"there is no store at {server.shown!r}: {lacks}; name the folder of one, or a zip.")
    if not sums or COPIES in sums:
        server.copy(COPIES, into / COPIES, policy.max_json_bytes, may_lack=True)
    copies: dict[str, int] = {}
    kinds = (
        (RUNS, RUN_FILE, policy.max_files, policy.max_file_bytes),
        *((folder, RECORD_FILE, policy.max_statements, policy.max_json_bytes) for folder in RECORDS),
    )
    for folder, pattern, most, largest in kinds:
        names = [name for name in server.listed(folder, sums, may_lack=folder != RUNS) if pattern.fullmatch(name)]
        if len(names) > most:
            raise StoreError(f"the store {server.shown!r} has {len(names)} {folder}; at most {most} are read from a server.")
        if names or folder == RUNS:
            (into / folder).mkdir(exist_ok=True)
        copies |= {f"{folder}/{name}": largest for name in names}
    left = policy.max_total_bytes
    with ThreadPoolExecutor(_AT_ONCE) as several:
        try:
            for size in several.map(lambda name: server.copy(name, into / name, copies[name]), copies):
                left -= size or 0
                if left < 0:
                    raise StoreError(f"the store {server.shown!r} has more than {policy.max_total_bytes >> 20} MB, too much.")
        except BaseException:
            several.shutdown(wait=False, cancel_futures=True)  # the others are not asked for any more
            raise
    _require_sums(server.shown, into, sums)
    return into


class _Server:
    """What lies below a URL, by name; the only code that asks a server."""

    def __init__(self, url: str) -> None:
        protocol, _, rest = url.partition(":")
        protocol, self.shown = protocol.lower(), shown(url)
        if "::" in url:
            raise StoreError(f"{self.shown!r} is a chain of addresses; name an https or s3 URL.")
        self._is_http = protocol in ("http", "https")
        require("remote", *(("fsspec", "aiohttp") if self._is_http else ("fsspec",)))
        import fsspec

        options: dict[str, Any] = {}
        if self._is_http:
            import aiohttp

            times = aiohttp.ClientTimeout(total=None, sock_connect=_TIMEOUT_S, sock_read=_TIMEOUT_S)
            options = {"client_kwargs": {"timeout": times}, "skip_instance_cache": True}
        try:
            self._files, root = fsspec.core.url_to_fs(f"{protocol}:{rest}", **options)
        except ImportError as error:
            needed = re.search(r"[Ii]nstall (\w+)", str(error))
            package = needed[1] if needed else error.name or "a package"
            raise MissingPackageError(
                f"{protocol} stores need {package}, which is not installed here; install it with: "
                f"python -m pip install {package}",
                name=package,
            ) from error
        except Exception as error:  # what a file system of another package raises
            raise StoreError(f"cannot read {self.shown!r}: {_words(error)}; name an https or s3 URL.") from error
        local = self._files.protocol
        if "file" in ((local,) if isinstance(local, str) else local):
            raise StoreError(f"{self.shown!r} leads to files of this machine; name the folder or the zip itself.")
        self._root = str(root)

    def _place(self, name: str) -> str:
        base, asked, query = self._root.partition("?") if self._is_http else (self._root, "", "")
        return f"{base.rstrip('/')}/{name}{asked}{query}" if name else self._root

    def copy(self, name: str, target: Path, most: int, *, may_lack: bool = False) -> int | None:
        """Return the size in bytes of a file that was copied; None if there is none and it `may_lack`."""
        size = 0
        streamed: Any = {"block_size": 0} if self._is_http else {"cache_type": "none"}  # a server need not know ranges
        try:
            with self._files.open(self._place(name), "rb", **streamed) as source, target.open("wb") as sink:
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    if size > most:
                        raise StoreError(f"{self._named(name)} has more than {most >> 20} MB, too much for a store.")
                    sink.write(chunk)
        except FileNotFoundError as error:
            target.unlink(missing_ok=True)
            if (cause := _unlike_absence(error)) is not None:
                raise StoreError(self._unread(name, cause)) from error
            if may_lack:
                return None
            raise StoreError(f"there is nothing at {self._named(name)} (404); check the address.") from error
        except StoreError:
            raise
        except Exception as error:  # each protocol has exceptions of its own
            raise StoreError(self._unread(name, error)) from error
        return size

    def _unread(self, name: str, error: BaseException) -> str:
        return f"cannot read {self._named(name)}: {_words(error)}; try again, or check the address."

    def _named(self, name: str) -> str:
        return repr(f"{self.shown.rstrip('/')}/{name}" if name else self.shown)

    def listed(self, folder: str, sums: dict[str, str], *, may_lack: bool = False) -> list[str]:
        """Return the names of the files in a folder: as the list of what was published has them, or else the server.

        `may_lack`: return nothing if there is no such folder.
        """
        if sums and may_lack and not any(name.startswith(f"{folder}/") for name in sums):
            return []
        known = [name.partition("/")[2] for name in sums if name.startswith(f"{folder}/")]
        try:
            places = [] if known else self._files.ls(self._place(folder) + "/" * self._is_http, detail=False)
        except Exception as error:
            if may_lack and isinstance(error, FileNotFoundError) and _unlike_absence(error) is None:
                return []
            raise StoreError(
                f"the server of {self.shown!r} lists no folders ({_words(error)}); let it have the {SUMS} of a published "
                "store, or name a zip."
            ) from error
        return sorted(known or {PurePosixPath(str(place)).name for place in places})


def _unlike_absence(error: FileNotFoundError) -> BaseException | None:
    """Return why a file was not found where it may be there: fsspec says so of every failure, as of no connection, too."""
    cause = error.__cause__
    while isinstance(cause, FileNotFoundError):
        cause = cause.__cause__
    return None if cause is None or getattr(cause, "status", 0) in (404, 410) else cause


def _sums(path: Path) -> dict[str, str]:
    """Return the hashes of files by name; none if there is no list."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    found = (_LINE.fullmatch(line) for line in lines)
    return {one[2]: one[1] for one in found if one}


def _require_sums(named: str, folder: Path, sums: dict[str, str]) -> None:
    """Raise StoreError if a file of the store is missing, or not what was published."""
    for name in sums:
        if name not in (MARKER, COPIES) and name.partition("/")[0] not in (RUNS, *RECORDS):
            continue
        place = folder / name
        if not place.is_file() or hashlib.sha256(place.read_bytes()).hexdigest() != sums[name]:
            raise StoreError(f"{name} of {named!r} is not what was published, by its {SUMS}; ask who serves it for a whole copy.")


def _words(error: BaseException) -> str:
    """Return what an exception of a protocol says, in one line and without the URL, which may hold a password."""
    if status := getattr(error, "status", 0):
        return f"the server says {status}"
    said = _REASONS.get(type(error).__name__) or re.sub(r"\w+://\S+", "it", " ".join(str(error).split()))
    return (said[:160] or type(error).__name__).rstrip(".;")
