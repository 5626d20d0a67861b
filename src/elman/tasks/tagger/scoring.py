"""How good tags are: accuracy, that of unseen words, and spans where tags mark them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from elman.metrics import LabelScore, accuracy, label_scores, span_scores
from elman.tasks.results import Report, label_table
from elman.tasks.tagger.data import TaggerDataset
from elman.tasks.tagger.tag_calibration import TagJudgement
from elman.tasks.tagger.tagset import Tagset
from elman.tasks.word_features import WordFeaturizer
from elman.text.spans import tags_to_spans

Tags = list[list[list[str]]]  # of each column and each sentence


def score_tags(
    featurizer: WordFeaturizer, tagsets: Sequence[Tagset], data: TaggerDataset, guesses: Tags
) -> dict[str, float]:
    """The scores of guesses; the names of those of further columns begin with the column's."""
    scores: dict[str, float] = {}
    chosen = []
    known = featurizer.in_training(data.forms)
    unseen = [not seen for row in data.rows for seen in known[row]]
    for i, (tagset, guess) in enumerate(zip(tagsets, guesses, strict=True)):
        prefix = "" if i == 0 else f"{tagset.column}_"
        own = _score_column(tagset, [e.tags[i] for e in data.examples], guess, unseen)
        scores |= {prefix + name: value for name, value in own.items()}
        chosen.append(own[tagset.metric])
    if len(chosen) > 1:
        scores["mean"] = sum(chosen) / len(chosen)
    scores["tokens"] = sum(map(len, data.rows))
    scores["sentences"] = len(data)
    return scores


def _score_column(
    tagset: Tagset, gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]], unseen: Sequence[bool]
) -> dict[str, float]:
    scores: dict[str, float] = {}
    if tagset.written:
        overall = span_scores([*map(tags_to_spans, gold)], [*map(tags_to_spans, guess)]).overall
        scores = {name: getattr(overall, name) for name in ("f1", "precision", "recall")}
    pairs = [pair for one in zip(gold, guess, strict=True) for pair in zip(*one, strict=True)]
    scores["accuracy"] = _accuracy(pairs)
    new = [pair for pair, is_new in zip(pairs, unseen, strict=True) if is_new]
    if new:
        scores["unseen_accuracy"] = _accuracy(new)
    return scores


def _accuracy(pairs: Sequence[tuple[str, str]]) -> float:
    return accuracy([gold for gold, _ in pairs], [guess for _, guess in pairs])


def report_tags(
    featurizer: WordFeaturizer, tagsets: Sequence[Tagset], data: TaggerDataset, guesses: Tags
) -> Report:
    """The scores, and each kind of span, or each tag, of each column."""
    found, tables = {}, []
    for i, (tagset, guess) in enumerate(zip(tagsets, guesses, strict=True)):
        each = _score_labels(tagset, [e.tags[i] for e in data.examples], guess)
        unit = "spans" if tagset.written else "words"
        tables.append(label_table(f"column {tagset.column}", each, unit))
        found[tagset.column] = {name: asdict(score) for name, score in each.items()}
    labels = found if len(found) > 1 else next(iter(found.values()))
    return Report(score_tags(featurizer, tagsets, data, guesses), {"labels": labels}, tables)


def add_quality(scores: Mapping[str, float], judged: Iterable[tuple[Tagset, TagJudgement]]) -> dict[str, float]:
    """The scores with NLL and ECE of each column, before how much there is."""
    found: dict[str, float] = {}
    for i, (tagset, judgement) in enumerate(judged):
        prefix = "" if i == 0 else f"{tagset.column}_"
        found |= {prefix + name: value for name, value in judgement.scores.items()}
    counts = {name: scores[name] for name in ("tokens", "sentences")}
    return {name: value for name, value in scores.items() if name not in counts} | found | counts


def _score_labels(
    tagset: Tagset, gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]]
) -> dict[str, LabelScore]:
    """Precision, recall and F1 of each kind of span, or of each tag."""
    if tagset.written:
        return span_scores([*map(tags_to_spans, gold)], [*map(tags_to_spans, guess)]).labels
    return label_scores([t for tags in gold for t in tags], [t for tags in guess for t in tags])
