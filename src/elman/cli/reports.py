"""What elman evaluate prints of a model of each task, and what its JSON object holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from elman.cli.manner import Writing
from elman.cli.terminal import progress, table
from elman.errors import ConfigError

if TYPE_CHECKING:
    from elman.metrics import LabelScore
    from elman.tasks.classifier import Classifier
    from elman.tasks.language_model import LanguageModel
    from elman.tasks.seq2seq import Encoded, Seq2Seq
    from elman.tasks.tagger import Tagger

COUNTS = ("examples", "tokens", "sentences")
CHUNK = 512  # sources that are answered together


def read_text(
    model: LanguageModel, text: Any, adapted: Mapping[str, Any], *, show: bool
) -> dict[str, Any]:
    """Perplexity, and the same in other units."""
    scores = model.evaluate(text, **adapted)
    if show:
        for name, value in scores.items():
            click.echo(f"{name} {value:.0f}" if name in COUNTS else f"{name} {value:.4f}")
    return dict(scores)


def classified(model: Classifier, examples: Any, *, show: bool) -> dict[str, Any]:
    """The scores, each label, and which was taken for which."""
    from elman.metrics import confusion, label_scores

    scores = model.evaluate(examples)
    gold, guess = model.judged(examples)
    matrix, each = confusion(gold, guess), label_scores(gold, guess)
    if show:
        numbers(scores)
        _labels(each, "examples")
        click.echo("confusion (rows: right, columns: guessed)")
        rows = zip(matrix.labels, matrix.counts, strict=True)
        table(["", *matrix.labels], [[name, *map(str, row)] for name, row in rows])
    return {
        **scores,
        "labels": {name: asdict(score) for name, score in each.items()},
        "confusion": {"labels": matrix.labels, "counts": matrix.counts},
    }


def tagged(model: Tagger, examples: Any, *, show: bool) -> dict[str, Any]:
    """The scores, and each kind of span, or each tag, of each column."""
    from elman.metrics import label_scores, span_scores
    from elman.text.spans import spans

    guesses = model.guessed(examples)
    scores = model.scores(examples, guesses)
    if show:
        numbers(scores)
    found = {}
    for i, (tagset, guess) in enumerate(zip(model.tagsets, guesses, strict=True)):
        gold = [e.tags[i] for e in examples.examples]
        if tagset.written:
            each = span_scores([*map(spans, gold)], [*map(spans, guess)]).labels
        else:
            each = label_scores([t for s in gold for t in s], [t for s in guess for t in s])
        if show:
            click.echo(f"column {tagset.column}")
            _labels(each, "spans" if tagset.written else "words")
        found[tagset.column] = {name: asdict(score) for name, score in each.items()}
    return {**scores, "labels": found if len(found) > 1 else next(iter(found.values()))}


def written(
    model: Seq2Seq, data: Encoded, writing: Writing, device: str, *, show: bool
) -> dict[str, Any]:
    """The scores, BLEU and chrF as sacreBLEU computes and signs them."""
    metrics = _sacrebleu(model.model.bleu)
    others = writing.others(device)
    answers = _answers(model, [e.source for e in data.examples], others, writing.manner(model))
    scores = model.scores(data, answers)
    if others:
        del scores["nats_per_token"]  # of the first model alone
    streams = _streams([e.targets for e in data.examples])
    signatures = {}
    for name, metric in metrics.items():
        scores[name] = metric.corpus_score([*map(_plain, answers)], streams).score
        signatures[name] = str(metric.get_signature())
    if show:
        numbers(scores)
        for name, signature in signatures.items():
            click.echo(f"signature of {name}: {signature}")
    return {**scores, "signature": signatures}


def _answers(
    model: Seq2Seq, sources: Sequence[str], others: Sequence[Seq2Seq], manner: Mapping[str, Any]
) -> list[str]:
    answers: list[str] = []
    with progress() as bar:
        task = bar.add_task("writing", total=len(sources))
        for start in range(0, len(sources), CHUNK):
            some = model.translations(sources[start : start + CHUNK], others=others, **manner)
            answers += [best[0].text for best in some]
            bar.update(task, completed=len(answers))
    return answers


def _sacrebleu(tokenize: str) -> dict[str, Any]:
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError:
        raise ConfigError(
            "BLEU and chrF are reported by sacreBLEU, which is not installed: pip install sacrebleu"
        ) from None
    # force: text that looks tokenised is not warned about; how it is cut is in the signature.
    return {"bleu": BLEU(tokenize=tokenize, force=True), "chrf": CHRF()}


def _streams(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """As sacreBLEU wants them: the first of all, the second of all where there is one, …"""
    most = max(map(len, references))
    return [
        [_plain(those[n]) if n < len(those) else None for those in references] for n in range(most)
    ]


def _plain(text: str) -> str:
    """As the model's own scores take it: blanks are blanks."""
    return " ".join(text.split())


def numbers(scores: Mapping[str, float]) -> None:
    for name, value in scores.items():
        click.echo(f"{name} {value:.0f}" if name in COUNTS else f"{name} {value:.2f}")


def _labels(each: Mapping[str, LabelScore], unit: str) -> None:
    table(
        ["label", "precision", "recall", "F1", unit],
        [
            [name, f"{s.precision:.1f}", f"{s.recall:.1f}", f"{s.f1:.1f}", str(s.support)]
            for name, s in each.items()
        ],
    )
