"""A file from the web, which goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from elman import __version__
from elman.errors import DataError
from elman.number_format import format_size

BLOCK = 1 << 16
SECONDS = 30  # without an answer
RANGE_NOT_SATISFIABLE = 416

Progress = Callable[[int], None]
"""Told how many bytes there are so far."""


def download(url: str, part: Path, limit: int, progress: Progress) -> bytes:
    """The bytes at an address, at most ``limit``; ``part`` keeps those that came until all are there."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": f"elman/{__version__}"}
    if have:
        headers["Range"] = f"bytes={have}-"
    try:
        with urlopen(Request(url, headers=headers), timeout=SECONDS) as answer:
            _receive(answer, url, part, limit, progress)
    except HTTPError as error:
        part.unlink(missing_ok=True)
        if have and error.code == RANGE_NOT_SATISFIABLE:  # there is no more than what came, or another file
            return download(url, part, limit, progress)
        raise DataError(f"{url}: the server says {error.code} {error.reason}") from None
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise DataError(f"{url}: {reason}; the same command goes on where it stopped") from None
    content = part.read_bytes()
    part.unlink()
    return content


def _receive(answer: HTTPResponse, url: str, part: Path, limit: int, progress: Progress) -> None:
    goes_on = answer.status == 206
    have = part.stat().st_size if goes_on else 0
    told = answer.headers["Content-Length"]
    total = have + int(told) if told else None
    with open(part, "ab" if goes_on else "wb") as file:
        while block := answer.read(BLOCK):
            have += len(block)
            if have > limit:
                part.unlink()
                raise DataError(
                    f"{url}: it is larger than {format_size(limit)}, and so not the file that is known"
                )
            file.write(block)
            progress(have)
    if total is not None and have < total:
        raise DataError(
            f"{url}: broke off after {have:,} of {total:,} bytes; the same command goes on where it stopped"
        )
