"""What a sequence-to-sequence model got wrong, and why it left the right answer where it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from elman.metrics import edit_distance
from elman.shapes import Tensor
from elman.tasks.judgement import Mistake, MistakeTrace
from elman.tasks.seq2seq.data import EncodedPair, Seq2SeqDataset, Seq2SeqExample
from elman.tasks.seq2seq.explain import display_target, row_of, source_tokens
from elman.tasks.seq2seq.loss import nll
from elman.tasks.seq2seq.translation import Translation

if TYPE_CHECKING:
    from elman.tasks.seq2seq.task import Seq2Seq


class Departure(NamedTuple):
    """Where an answer leaves its reference: the tokens up to there, its next token and the right one."""

    pair: EncodedPair
    before: list[int]
    said: int
    right: int


def edit_tokens(task: Seq2Seq) -> Callable[[str], list[str]]:
    """What edits are counted in: words, or the letters of a model that writes letters."""
    return list if task.tokenizers.target.level in ("char", "byte") else str.split


def find_mistakes(
    task: Seq2Seq, data: Seq2SeqDataset, answers: Sequence[Translation], wrong: Sequence[int]
) -> list[Mistake]:
    """The wrong answers, ranked by edits for a token of the nearest reference."""
    pieces = edit_tokens(task)
    found = []
    for number in wrong:
        example, answer = data.examples[number], answers[number]
        edits, target = min((edit_distance(pieces(answer.text), pieces(t)), t) for t in example.targets)
        rate = 100.0 * edits / max(1, len(pieces(target)))
        departure = _departure(task, example, answer, target)
        record: dict[str, Any] = {"where": example.where, "source": example.source, "target": target}
        record |= {"answer": answer.text, "edit_rate": rate, "confidence": _confidence(answer)}
        if departure is not None:
            said, right = (display_target(task, departure.pair, i) for i in (departure.said, departure.right))
            record["first_wrong"] = f"{said}, not {right}"
        found.append(Mistake(number, record, rate, departure))
    return found


def _confidence(answer: Translation) -> float:
    """The probability of a token, as the geometric mean."""
    return exp(sum(answer.log_probs) / len(answer.log_probs)) if answer.log_probs else 0.0


def _departure(task: Seq2Seq, example: Seq2SeqExample, answer: Translation, target: str) -> Departure | None:
    """The first token of the answer that is not that of the reference; None where both have the same ids."""
    pair = task.encode_pair(example.source, target)
    said = row_of(task, example.source, answer.tokens).target
    for place, (one, right) in enumerate(zip(said, pair.target, strict=False)):
        if one != right:
            return Departure(pair, said[:place], one, right) if pair.source else None
    return None


def trace_mistakes(task: Seq2Seq, mistakes: Sequence[Mistake]) -> MistakeTrace:
    """Why the first wrong token of each, rather than the right one?"""
    about: list[Departure] = [m.about for m in mistakes]
    rows = [d.pair._replace(target=[*d.before, d.said]) for d in about]
    rows += [d.pair._replace(target=[*d.before, d.right]) for d in about]
    batch, count = task.collate(rows), len(about)
    place = torch.tensor([len(d.before) for d in about])
    row = torch.arange(count)

    def margins() -> Tensor:
        costs = nll(task.net, batch)
        return costs[row + count, place] - costs[row, place]

    tokens = [source_tokens(task, d.pair.text) for d in about]
    return MistakeTrace(
        tokens,
        task.net.reads,
        margins,
        # The source is read twice, once before each of the two tokens.
        lambda shares: [(shares[i] + shares[i + count])[: len(some)] for i, some in enumerate(tokens)],
    )
