"""What elman predict says of raw texts: words with tags, spans with their places, sentence by sentence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from elman.errors import ConfigError
from elman.number_format import format_probability
from elman.tasks.base import PredictOptions
from elman.tasks.results import Answer
from elman.tasks.tagger.analysis import Tagging
from elman.tasks.tagger.output import tagging_record
from elman.tasks.tagger.raw_text import RawText, TextSpan, merge_taggings, regroup
from elman.tasks.tagger.tagset import Tagset
from elman.text.arguments import check_texts
from elman.text.spans import tags_to_spans

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


def tag_texts(task: Tagger, rows: Sequence[tuple[str, ...]], options: PredictOptions) -> Iterator[Answer]:
    """An answer to each raw text: pairs ``word/tag``; as cells of a table, its spans, or the pairs."""
    texts = [RawText.split(text, task.split_words) for (text,) in rows]
    if options.as_json or options.n_best > 1:
        yield from _answer_in_full(task, texts, options.n_best)
        return
    found = task.tag_columns([words for text in texts for words in text.sentences])
    for text, sentences in zip(texts, regroup(texts, found), strict=True):
        columns = [[tag for tags in sentences for tag in tags[i]] for i in range(len(task.tagsets))]
        cells = [_cell(text, *column) for column in zip(task.tagsets, columns, strict=True)]
        yield Answer(_pairs(text, columns), {}, cells=cells)


def name_cells(task: Tagger, options: PredictOptions) -> dict[str, type]:
    """What the cells of a table are called: ``spans`` or ``tags``; of several columns, with their names."""
    if options.n_best > 1 and not options.as_json:
        raise ConfigError("--top is for lines, not for a table: leave it out, or take --json")
    kinds = {t.column: ("spans", list) if t.written else ("tags", str) for t in task.tagsets}
    return {name if len(kinds) == 1 else f"{name}_{column}": kind for column, (name, kind) in kinds.items()}


def find_spans(task: Tagger, texts: Iterable[str]) -> list[list[TextSpan]]:
    """The spans of each raw text with their probability; of several columns, of the first that has any."""
    at = next((i for i, tagset in enumerate(task.tagsets) if tagset.written), None)
    if at is None:
        raise ConfigError("the tags of this model mark no spans; tag and analyse give a tag for each word")
    raw = [RawText.split(text, task.split_words) for text in check_texts(texts, "spans")]
    taggings = _analyse(task, raw, n_best=1)
    return [
        [text.locate(span, sure) for span, sure in columns[at].spans]
        for text, columns in zip(raw, taggings, strict=True)
    ]


def _analyse(task: Tagger, texts: Sequence[RawText], n_best: int) -> Iterator[list[Tagging]]:
    """For each text and each column, what the sentences have together."""
    found = task.analyse([words for text in texts for words in text.sentences], n_best=n_best)
    for sentences in regroup(texts, found):
        columns = range(len(task.tagsets))
        yield [merge_taggings([taggings[i] for taggings in sentences], n_best) for i in columns]


def _answer_in_full(task: Tagger, texts: Sequence[RawText], n_best: int) -> Iterator[Answer]:
    for text, taggings in zip(texts, _analyse(task, texts, n_best), strict=True):
        best = (f"{_pairs(text, [tags])} {format_probability(chance)}" for tags, chance in taggings[0].n_best)
        spans = [[text.locate(*found)._asdict() for found in tagging.spans] for tagging in taggings]
        record = {"text": text.text, "words": text.words, "offsets": text.offsets}
        yield Answer("\t".join(best), {**record, **tagging_record(task, taggings, spans)})


def _pairs(text: RawText, columns: Sequence[Sequence[str]]) -> str:
    return " ".join("/".join(parts) for parts in zip(text.words, *columns, strict=True))


def _cell(text: RawText, tagset: Tagset, tags: Sequence[str]) -> Any:
    if not tagset.written:
        return _pairs(text, [tags])
    found = (text.locate(span)._asdict() for span in tags_to_spans(tags))
    return [{name: value for name, value in span.items() if value is not None} for span in found]
