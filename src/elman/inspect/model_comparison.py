"""Two models on the same examples: is one better, or was it chance?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from elman.errors import ConfigError
from elman.metrics import PairedResult, compare_by_bootstrap, compare_by_permutation
from elman.tasks.judgement import Judgement

BOOTSTRAPPED = ("bleu", "chrf")  # whose p is that of sacreBLEU's paired bootstrap; else of a permutation test


@dataclass(frozen=True)
class ModelComparison:
    """Scores of two models by name; how many examples only one of them got right."""

    unit: str
    count: int
    scores: dict[str, PairedResult]
    only_a: int | None = None  # None: nothing is right or wrong
    only_b: int | None = None
    note: str = ""


def compare_models(a: Judgement, b: Judgement) -> ModelComparison:
    """What two models, judged on the same examples, differ in."""
    if len(a.tokens) != len(b.tokens):
        raise ConfigError(f"the models did not judge the same {a.unit}: {len(a.tokens)} and {len(b.tokens)}")
    shared = [name for name in a.scores if name in b.scores]
    note = ""
    if a.vocabulary != b.vocabulary:
        shared.remove("perplexity")
        note = (
            "perplexity is per token, and the two models have other tokens: compare nats_per_line; "
            f"unknown tokens cost little: {_unknown(a)} in A, {_unknown(b)} in B"
        )
    results = {}
    for name in shared:
        compare = compare_by_bootstrap if name in BOOTSTRAPPED else compare_by_permutation
        results[name] = compare(a.scores[name], b.scores[name])
    if a.right is None or b.right is None:
        return ModelComparison(a.unit, len(a.tokens), results, note=note)
    only_a, only_b = (int(np.sum(x & ~y)) for x, y in ((a.right, b.right), (b.right, a.right)))
    return ModelComparison(a.unit, len(a.tokens), results, only_a, only_b, note)


def _unknown(judgement: Judgement) -> str:
    share = 0.0 if judgement.unseen is None else judgement.unseen.sum() / judgement.tokens.sum()
    return f"{share:.1%}"
