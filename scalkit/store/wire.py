"""A store that lies on a server: its zip is fetched by fsspec, read like any zip, and deleted."""

import contextlib
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scalkit.errors import MissingPackageError, StoreError
from scalkit.extras import require
from scalkit.store.submissions.containers import Policy

_URL = re.compile(r"[a-z][a-z0-9+.:-]*://[^\s]+", re.I)
_CHUNK = 1 << 20
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
    """Provide a copy of the zip at a URL.

    Raises StoreError if there is none, the server does not answer, or what it sends breaks off or is too large.
    Raises MissingPackageError if fsspec, or what it needs for this kind of URL, is not here.
    """
    folder = Path(tempfile.mkdtemp(prefix="scalkit-store-"))
    try:
        yield fetch(url, folder, policy or Policy())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def fetch(url: str, into: Path, policy: Policy) -> Path:
    """Return the copy of the zip at a URL, in the folder `into`. Raises as `fetched` does."""
    archive = into / "store.zip"
    _copy(url, archive, policy.max_total_bytes)
    if not zipfile.is_zipfile(archive):
        raise StoreError(f"there is no zip at {shown(url)!r}; name one that 'scalkit store publish' wrote.")
    return archive


def _copy(url: str, target: Path, most: int) -> None:
    """Write what lies at a URL into a file of at most so many bytes."""
    named, (files, place) = shown(url), _opened(url)
    streamed: Any = {"block_size": 0} if _is_http(url) else {"cache_type": "none"}  # a server need not know ranges
    size = 0
    try:
        with files.open(place, "rb", **streamed) as source, target.open("wb") as sink:
            while chunk := source.read(_CHUNK):
                size += len(chunk)
                if size > most:
                    raise StoreError(f"{named!r} has more than {most >> 20} MB, too much for a store.")
                sink.write(chunk)
    except StoreError:
        raise
    except Exception as error:  # each protocol has exceptions of its own
        cause = _unlike_absence(error) if isinstance(error, FileNotFoundError) else error
        if cause is None:
            raise StoreError(f"there is nothing at {named!r} (404); check the address.") from error
        raise StoreError(f"cannot read {named!r}: {_words(cause)}; try again, or check the address.") from error


def _is_http(url: str) -> bool:
    return url.lower().startswith(("http:", "https:"))


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, as fsspec knows it, and the place in it."""
    protocol, _, rest = url.partition(":")
    protocol = protocol.lower()
    if "::" in url:
        raise StoreError(f"{shown(url)!r} is a chain of addresses; name an https or s3 URL.")
    require("remote", *(("fsspec", "aiohttp") if _is_http(url) else ("fsspec",)))
    import fsspec

    options: dict[str, Any] = {}
    if _is_http(url):
        import aiohttp

        times = aiohttp.ClientTimeout(total=None, sock_connect=_TIMEOUT_S, sock_read=_TIMEOUT_S)
        options = {"client_kwargs": {"timeout": times}, "skip_instance_cache": True}
    try:
        files, place = fsspec.core.url_to_fs(f"{protocol}:{rest}", **options)
    except ImportError as error:
        needed = re.search(r"[Ii]nstall (\w+)", str(error))
        package = needed[1] if needed else error.name or "a package"
        raise MissingPackageError(
            f"{protocol} stores need {package}, which is not installed here; install it with: python -m pip install {package}",
            name=package,
        ) from error
    except Exception as error:  # what a file system of another package raises
        raise StoreError(f"cannot read {shown(url)!r}: {_words(error)}; name an https or s3 URL.") from error
    if "file" in ((files.protocol,) if isinstance(files.protocol, str) else files.protocol):
        raise StoreError(f"{shown(url)!r} leads to files of this machine; name the folder or the zip itself.")
    return files, str(place)


def _unlike_absence(error: FileNotFoundError) -> BaseException | None:
    """Return why a file was not found where it may be there: fsspec says so of every failure, as of no connection, too."""
    cause = error.__cause__
    while isinstance(cause, FileNotFoundError):
        cause = cause.__cause__
    return None if cause is None or getattr(cause, "status", 0) in (404, 410) else cause


def _words(error: BaseException) -> str:
    """Return what an exception of a protocol says, in one line and without the URL, which may hold a password."""
    if status := getattr(error, "status", 0):
        return f"the server says {status}"
    said = _REASONS.get(type(error).__name__) or re.sub(r"\w+://\S+", "it", " ".join(str(error).split()))
    return (said[:160] or type(error).__name__).rstrip(".;")
