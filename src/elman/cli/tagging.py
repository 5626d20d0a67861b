"""What elman predict prints of a tagger: tags, pairs, or a file whose column is filled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from elman.cli.streaming import chunks
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.tasks.tagger import Tagger, Tagging
    from elman.text.columns import Layout

ENDINGS = {".conllu": "conllu", ".conll": "columns"}
CHUNK = 256  # sentences that are tagged together


def tag_file(
    model: Tagger,
    file: str,
    top: int,
    as_json: bool,
    *,
    format: str | None,
    encoding: str,
    line_buffered: bool,
) -> None:
    """Tag lines of words, raw text, or a file of columns, by ``format`` or by the ending."""
    from elman.text.conll import sentences
    from elman.text.files import ending
    from elman.text.lines import lines

    format = format or ENDINGS.get(ending(file), "lines")
    if top > 1 and not as_json and len(model.tagsets) > 1:
        raise ConfigError("--top is for a tagger of one column; --json has the best of each")
    words: Iterable[Sequence[str]]
    if format in ("lines", "raw"):
        cut = model.cut if format == "raw" else str.split
        words = (cut(line) for _, line in lines(file, encoding=encoding))
    elif as_json or top > 1:
        read = sentences(file, columns=(), format=format, encoding=encoding)
        words = (s.words for s in read)
    else:
        _fill(model, file, format, encoding, line_buffered)
        return
    some = chunks(words, file, CHUNK, line_buffered=line_buffered)
    _tag(model, some, top, as_json, pairs=format == "raw")


def _tag(
    model: Tagger, sentences: Iterable[list[Sequence[str]]], top: int, as_json: bool, *, pairs: bool
) -> None:
    for some in sentences:
        if not as_json and top == 1:
            for words, columns in zip(some, model.tag_columns(some), strict=True):
                click.echo(_line(words, columns, pairs))
            continue
        for words, taggings in zip(some, model.analyse(some, n_best=top), strict=True):
            if as_json:
                named = zip(model.tagsets, taggings, strict=True)
                found = {tagset.column: _plain(words, t) for tagset, t in named}
                answer = found if len(found) > 1 else next(iter(found.values()))
                click.echo(json.dumps({"words": list(words), **answer}, ensure_ascii=False))
            else:
                best = taggings[0].n_best
                answers = (f"{_line(words, [tags], pairs)} {chance:.4f}" for tags, chance in best)
                click.echo("\t".join(answers))


def _line(words: Sequence[str], columns: Sequence[Sequence[str]], pairs: bool) -> str:
    """Tags apart by blanks, columns by tabs; as pairs, each word with its tags."""
    if not pairs:
        return "\t".join(" ".join(tags) for tags in columns)
    return " ".join("/".join(parts) for parts in zip(words, *columns, strict=True))


def _plain(words: Sequence[str], tagging: Tagging) -> dict[str, Any]:
    return {
        "tags": tagging.tags,
        "confidence": tagging.confidence,
        "spans": [
            {**span._asdict(), "text": " ".join(words[span.start : span.end]), "confidence": sure}
            for span, sure in tagging.spans
        ],
        "n_best": [{"tags": tags, "probability": chance} for tags, chance in tagging.n_best],
    }


def _fill(model: Tagger, file: str, format: str, encoding: str, line_buffered: bool) -> None:
    from codecs import getincrementalencoder

    from elman.errors import DataError
    from elman.text.conll import blocks, filled

    names = [tagset.column for tagset in model.tagsets]
    encode = None  # as it was encoded, whatever the terminal's encoding is
    read = tuple(given.column for given in model.lexicon.inputs)
    read_blocks = blocks(file, columns=read, format=format, encoding=encoding)
    for some in chunks(read_blocks, file, CHUNK, line_buffered=line_buffered):
        encode = encode or getincrementalencoder(encoding)().encode
        inputs = [block.tags for block in some] if read else None
        answers = model.tag_columns([block.words for block in some], inputs)
        for block, tags in zip(some, answers, strict=True):
            columns = _places(names, block.layout)
            lines = filled(block, columns, tags) if block.words else block.raw
            try:
                click.echo(encode("".join(lines)), nl=False)
            except UnicodeEncodeError as error:
                raise DataError(f"a tag cannot be written in {encoding}: {error}") from None


def _places(names: Sequence[str], layout: Layout) -> tuple[str, ...]:
    """The columns to fill; those that the file does not have are added at its end."""
    if layout.names:
        # A number is none of its names: it was counted in a file with other columns.
        if not set(names) <= set(layout.names):
            raise ConfigError(
                f"the tagger fills {', '.join(names)}, which CoNLL-U does not have; --json prints the tags"
            )
        return tuple(names)
    wide, places = layout.width, []
    for name in names:
        there = name.isdigit() and 1 < int(name) <= layout.width
        wide += not there
        places.append(name if there else str(wide))
    return tuple(places)
