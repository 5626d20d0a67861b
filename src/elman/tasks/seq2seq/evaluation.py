"""How good answers are: scores, and what elman evaluate says, with BLEU and chrF by sacreBLEU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import torch

from elman.errors import ConfigError
from elman.metrics import corpus_bleu, corpus_chrf, edit_rate, exact_match, tokenize_13a
from elman.state import eval_mode
from elman.tasks.base import Progress
from elman.tasks.results import Report
from elman.tasks.seq2seq.data import Seq2SeqDataset
from elman.tasks.seq2seq.loss import nll
from elman.tasks.seq2seq.search import DecodingConfig, chunks
from elman.tasks.seq2seq.translation import Translation
from elman.tasks.seq2seq.wrong_answers import edit_tokens

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq

CHUNK = 512  # sources that are answered together


def score_answers(task: Seq2Seq, dataset: Seq2SeqDataset, answers: Sequence[str]) -> dict[str, float]:
    """BLEU, chrF, exact answers and edits in percent, and what a token of a right answer costs."""
    costs = {"nats_per_token": _nats_per_token(task, dataset), "examples": len(answers)}
    return score_texts(task, dataset, answers) | costs


def score_texts(task: Seq2Seq, dataset: Seq2SeqDataset, answers: Sequence[str]) -> dict[str, float]:
    """BLEU, chrF, exact answers and edits in percent, whoever gave the answers."""
    texts, right = single_spaced(dataset, answers)
    bleu, chrf = corpus_bleu(texts, right, tokenize=bleu_tokenizer(task)), corpus_chrf(texts, right)
    return {"bleu": bleu, "chrf": chrf, **_edit_scores(task, texts, right)}


def bleu_tokenizer(task: Seq2Seq) -> Callable[[str], list[str]]:
    """How BLEU cuts texts."""
    return tokenize_13a if task.config.bleu == "13a" else str.split


def _edit_scores(task: Seq2Seq, texts: list[str], right: list[list[str]]) -> dict[str, float]:
    pieces = edit_tokens(task)
    edits = edit_rate([*map(pieces, texts)], [[*map(pieces, some)] for some in right])
    return {"exact": exact_match(texts, right), "edit_rate": edits}


def single_spaced(dataset: Seq2SeqDataset, answers: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Answers and their references as the model's own scores take them: blanks are blanks."""
    right = [[" ".join(text.split()) for text in e.targets] for e in dataset.examples]
    return [" ".join(text.split()) for text in answers], right


@torch.no_grad()
def _nats_per_token(task: Seq2Seq, dataset: Seq2SeqDataset) -> float:
    total = count = 0.0
    with eval_mode(task.net) as net:
        for some in chunks([max(pair) for pair in dataset.lengths]):
            batch = task.collate([dataset.rows[i] for i in some])
            total += float(nll(net, batch).double()[batch.target_mask].sum())
            count += float(batch.target_mask.sum())
    return total / count


def write_answers(
    task: Seq2Seq, data: Seq2SeqDataset, progress: Progress, config: DecodingConfig, others: Sequence[Seq2Seq]
) -> list[Translation]:
    """The best answer to each source."""
    answers: list[Translation] = []
    sources = [e.source for e in data.examples]
    for start in range(0, len(sources), CHUNK):
        some = task.translations(sources[start : start + CHUNK], config=config, others=others)
        answers += [best[0] for best in some]
        progress("writing", len(answers), len(sources))
    return answers


def report_answers(
    task: Seq2Seq, data: Seq2SeqDataset, answers: Sequence[Translation], others: Sequence[Seq2Seq]
) -> Report:
    """The scores, BLEU and chrF as sacreBLEU computes and signs them."""
    metrics = _sacrebleu(task.config.bleu)
    texts, right = single_spaced(data, [answer.text for answer in answers])
    streams = [*zip_longest(*right)]  # as sacreBLEU wants them: the first of all, the second or None, …
    scores = {name: metric.corpus_score(texts, streams).score for name, metric in metrics.items()}
    signatures = {name: str(metric.get_signature()) for name, metric in metrics.items()}
    scores |= _edit_scores(task, texts, right)
    if not others:  # that of one model alone
        scores["nats_per_token"] = _nats_per_token(task, data)
    scores["examples"] = len(texts)
    notes = [f"signature of {name}: {signature}" for name, signature in signatures.items()]
    return Report(scores, {"signature": signatures}, notes=notes)


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
