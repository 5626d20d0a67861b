"""What elman predict prints of a tagger for files of words: tags, or the file with its column filled."""

from __future__ import annotations

from codecs import getincrementalencoder
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from elman.errors import ConfigError, DataError
from elman.number_format import format_probability
from elman.tasks.base import PredictOptions
from elman.tasks.results import Answer
from elman.tasks.tagger.analysis import Tagging
from elman.text.byte_source import display_name, file_extension
from elman.text.conll import fill_tags, read_blocks, read_sentences
from elman.text.conll_layout import ColumnLayout
from elman.text.files import read_lines
from elman.text.length_limit import locate_long_texts
from elman.text.spans import Span

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger

ENDINGS = {".conllu": "conllu", ".conll": "columns"}


def tag_file(task: Tagger, file: str, options: PredictOptions) -> Iterator[Answer]:
    """Tag lines of words, raw text, or a file of columns, by ``format`` or by the ending."""
    format, encoding = (options.format or ENDINGS.get(file_extension(file), "lines"), options.encoding)
    if options.n_best > 1 and not options.as_json and len(task.tagsets) > 1:
        raise ConfigError("--top is for a tagger of one column; --json has the best of each")
    words: Iterable[Sequence[str]]
    lines = (line for _, line in read_lines(file, encoding=encoding))
    if format == "raw":
        for texts in options.chunks(lines):
            yield from task.predict_rows([(text,) for text in texts], options)
        return
    if format == "lines":
        words = map(str.split, lines)
    elif options.as_json or options.n_best > 1:
        sentences = read_sentences(file, columns=(), format=options.format, encoding=encoding)
        words = (sentence.words for sentence in sentences)
    else:
        yield from _fill(task, file, options)
        return
    number = 1
    for some in options.chunks(words):
        places = [f"{display_name(file)}: sentence {i}" for i in range(number, number + len(some))]
        with locate_long_texts(places):
            yield from _tag(task, some, options)
        number += len(some)


def _tag(task: Tagger, sentences: list[Sequence[str]], options: PredictOptions) -> Iterator[Answer]:
    """Tags apart by blanks, columns by tabs."""
    if not options.as_json and options.n_best == 1:
        for columns in task.tag_columns(sentences):
            yield Answer("\t".join(map(" ".join, columns)), {})
        return
    analyses = task.analyse(sentences, n_best=options.n_best)
    for words, taggings in zip(sentences, analyses, strict=True):
        best = (f"{' '.join(tags)} {format_probability(chance)}" for tags, chance in taggings[0].n_best)
        spans = [[_span_record(words, span, sure) for span, sure in one.spans] for one in taggings]
        yield Answer("\t".join(best), {"words": list(words), **tagging_record(task, taggings, spans)})


def _span_record(words: Sequence[str], span: Span, confidence: float) -> dict[str, Any]:
    text = " ".join(words[span.start : span.end])
    return {**span._asdict(), "text": text, "confidence": confidence}


def tagging_record(
    task: Tagger, taggings: Sequence[Tagging], spans: Sequence[Sequence[Mapping[str, Any]]]
) -> dict[str, Any]:
    """What JSON says of a sentence or text; of several columns, by their names."""
    found = {
        tagset.column: {
            "tags": tagging.tags,
            "confidence": tagging.confidence,
            "spans": list(some),
            "n_best": [{"tags": tags, "probability": chance} for tags, chance in tagging.n_best],
        }
        for tagset, tagging, some in zip(task.tagsets, taggings, spans, strict=True)
    }
    return found if len(found) > 1 else next(iter(found.values()))


def _fill(task: Tagger, file: str, options: PredictOptions) -> Iterator[Answer]:
    """The file, block by block, with its column filled and all else as it was, in its encoding."""
    names = [tagset.column for tagset in task.tagsets]
    encode = None  # begun with the first block: some encodings start with a mark
    read = tuple(given.column for given in task.featurizer.inputs)
    blocks = read_blocks(file, columns=read, format=options.format, encoding=options.encoding)
    for some in options.chunks(blocks):
        encode = encode or getincrementalencoder(options.encoding)().encode
        inputs = [block.tags for block in some] if read else None
        answers = task.tag_columns([block.words for block in some], inputs)
        for block, tags in zip(some, answers, strict=True):
            columns = _places(names, block.layout)
            lines = fill_tags(block, columns, tags) if block.words else block.raw
            try:
                yield Answer(encode("".join(lines)), {})
            except UnicodeEncodeError as error:
                raise DataError(f"a tag cannot be written in {options.encoding}: {error}") from None


def _places(names: Sequence[str], layout: ColumnLayout) -> tuple[str, ...]:
    """The columns to fill; those that the file does not have are added at its end."""
    if layout.names:
        # A number is none of its names: it was counted in a file with other columns.
        if not set(names) <= set(layout.names):
            fills = ", ".join(names)
            raise ConfigError(f"the tagger fills {fills}, which CoNLL-U does not have; --json prints the tags")
        return tuple(names)
    wide, places = layout.width, []
    for name in names:
        there = name.isdigit() and layout.word + 1 < int(name) <= layout.width
        wide += not there
        places.append(name if there else str(wide))
    return tuple(places)
