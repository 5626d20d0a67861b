"""elman predict: a line in, a line out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from elman.cli.terminal import on_device

if TYPE_CHECKING:
    from elman.tasks.classifier import Classifier
    from elman.tasks.tagger import Tagger, Tagging
    from elman.text.columns import Layout

T = TypeVar("T")

ENDINGS = {".conllu": "conllu", ".conll": "columns"}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("file", default="-")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="The K likeliest answers with their probabilities.",
)
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line, with probabilities.")
@click.option(
    "--format",
    type=click.Choice(["lines", "raw", "conllu", "columns"]),
    help="Taggers: words apart by blanks, raw text, or a file whose column is filled. "
    "Default: by the ending, .conllu or .conll, else lines.",
)
@click.option("--encoding", default="utf-8", show_default=True)
@on_device
def predict(
    folder: Path,
    file: str,
    top: int,
    as_json: bool,
    format: str | None,
    encoding: str,
    device: str,
) -> None:
    """Print an answer for each line of FILE (default: standard input): a label, or a tag for each word.

    A tagger fills its column in a CoNLL-U file and leaves everything else as it is; with --json or --top
    it prints a line for each sentence.

    \b
    Examples:
      elman predict models/topics mails.txt > labels.txt
      echo "How far is the moon?" | elman predict models/trec --top 3
      elman predict models/pos plain.conllu > tagged.conllu
      echo "Time flies." | elman predict models/pos --format raw
    """
    from elman import artifact
    from elman.errors import ConfigError
    from elman.tasks.tagger import Tagger
    from elman.text.conll import sentences
    from elman.text.files import ending
    from elman.text.lines import lines

    model: Any = artifact.load(folder, device=device)
    texts = (line for _, line in lines(file, encoding=encoding))
    if not isinstance(model, Tagger):
        if format:
            raise ConfigError("--format is for taggers: a classifier reads lines of text")
        _classify(model, texts, top, as_json)
        return
    format = format or ENDINGS.get(ending(file), "lines")
    if top > 1 and not as_json and len(model.tagsets) > 1:
        raise ConfigError("--top is for a tagger of one column; --json has the best of each")
    if format in ("lines", "raw"):
        cut = model.cut if format == "raw" else str.split
        _tag(model, map(cut, texts), top, as_json, pairs=format == "raw")
    elif as_json or top > 1:
        read = sentences(file, columns=(), format=format, encoding=encoding)
        _tag(model, (s.words for s in read), top, as_json, pairs=False)
    else:
        _fill(model, file, format, encoding)


def _classify(model: Classifier, texts: Iterable[str], top: int, as_json: bool) -> None:
    for some in _chunks(texts, 512):
        for line, prediction in zip(some, model.classify(some), strict=True):
            best = islice(prediction.probabilities.items(), top)
            if as_json:
                click.echo(json.dumps({"text": line, **prediction._asdict()}, ensure_ascii=False))
            elif top == 1:
                click.echo(prediction.label)
            else:
                click.echo("\t".join(f"{name} {chance:.4f}" for name, chance in best))


def _tag(
    model: Tagger, sentences: Iterable[Sequence[str]], top: int, as_json: bool, *, pairs: bool
) -> None:
    for some in _chunks(sentences, 256):
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


def _fill(model: Tagger, file: str, format: str, encoding: str) -> None:
    from codecs import getincrementalencoder

    from elman.errors import DataError
    from elman.text.conll import blocks, filled

    names = [tagset.column for tagset in model.tagsets]
    encode = None  # as it was encoded, whatever the terminal's encoding is
    read = tuple(given.column for given in model.lexicon.inputs)
    for some in _chunks(blocks(file, columns=read, format=format, encoding=encoding), 256):
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
    from elman.errors import ConfigError

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


def _chunks(stream: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(stream)
    while chunk := list(islice(iterator, size)):
        yield chunk
