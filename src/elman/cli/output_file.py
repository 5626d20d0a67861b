"""Where results go: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast

import click

from elman.cli.terminal import add_options, option
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.text.tables.row_writer import ByteStream

TABLES = ("csv", "tsv", "jsonl", "json", "parquet", "xlsx")


class AnswerOptions(NamedTuple):
    """Where answers go, and which columns of a table are read."""

    out: Path | None
    text: tuple[str, ...]


def with_answer_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that answers files --out and --text; they arrive as ``output``."""

    @wraps(command)
    def wrapper(*, out: Path | None, text: tuple[str, ...], **values: Any) -> None:
        command(output=AnswerOptions(out, text), **values)

    written = "Write to FILE, whole or not at all, in the format of its ending (also .gz, .bz2, .xz, .zst)."
    read = "Column of a table to read, a name or a number; of pairs give two. [default: as in training]"
    path = click.Path(dir_okay=False, path_type=Path)
    return add_options(
        wrapper, [option("--text COLUMN", read, multiple=True), option("--out FILE", written, type=path)]
    )


def check_output(option: str, out: Path, *sources: str) -> None:
    """Refuse, before any work, a file in a folder that is not there, and one that is read."""
    if not out.parent.is_dir():
        raise ConfigError(f"{option} {out}: there is no folder {out.parent}")
    if any(out.exists() and os.path.exists(source) and os.path.samefile(out, source) for source in sources):
        raise ConfigError(f"{option} {out} is the file that is read: give it another name")


@contextmanager
def open_output(out: Path | None, source: str) -> Iterator[ByteStream]:
    """Standard output, or a file beside ``out`` that becomes it at the end; never the source itself."""
    from elman.files.atomic_files import open_result

    if out is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_output("--out", out, source)
    with open_result(out) as file, _compress(file, out.suffix.lower()) as packed:
        yield packed


def _compress(file: IO[bytes], ending: str) -> AbstractContextManager[ByteStream]:
    """A file that is compressed as its ending says."""
    if ending == ".gz":
        packed: Any = gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0)  # the same bytes each time
        return cast("AbstractContextManager[ByteStream]", packed)
    if ending == ".bz2":
        return cast("AbstractContextManager[ByteStream]", bz2.open(file, "wb"))
    if ending == ".xz":
        return cast("AbstractContextManager[ByteStream]", lzma.open(file, "wb"))
    return _zstandard(file) if ending == ".zst" else nullcontext(file)


def _zstandard(file: IO[bytes]) -> AbstractContextManager[ByteStream]:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise ConfigError('.zst needs zstandard: pip install "elman[tables]"') from None
    return cast(
        "AbstractContextManager[ByteStream]", zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    )
