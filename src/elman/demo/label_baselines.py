"""The obvious baselines for labels: how often, and which words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import log

Labelled = Sequence[tuple[str, str]]  # a text (or a word) and its label


def most_common_label(examples: Labelled) -> str:
    """The label that is right most often without looking."""
    return Counter(label for _, label in examples).most_common(1)[0][0]


def most_common_label_by_text(examples: Labelled) -> Callable[[str], str]:
    """For each text the label that it had most often; for others the commonest of all."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for text, label in examples:
        counts[text][label] += 1
    best = {text: seen.most_common(1)[0][0] for text, seen in counts.items()}
    other = most_common_label(examples)
    return lambda text: best.get(text, other)


class NaiveBayes:
    """argmax p(label) Π p(feature | label), the features counted and each α times more."""

    def __init__(
        self, examples: Labelled, features: Callable[[str], Iterable[str]], alpha: float = 0.3
    ) -> None:
        self.features, self.alpha = features, alpha
        self.labels = Counter(label for _, label in examples)
        self.counts: dict[str, Counter[str]] = {label: Counter() for label in self.labels}
        for text, label in examples:
            self.counts[label].update(features(text))
        different = len({name for seen in self.counts.values() for name in seen})
        self.totals = {label: sum(seen.values()) + alpha * different for label, seen in self.counts.items()}

    def __call__(self, text: str) -> str:
        found = list(self.features(text))
        return max(self.labels, key=lambda label: self._score(label, found))

    def _score(self, label: str, found: list[str]) -> float:
        seen, total = self.counts[label], self.totals[label]
        return log(self.labels[label]) + sum(log((seen[f] + self.alpha) / total) for f in found)


def unigrams(text: str) -> list[str]:
    """The words of a text, in no order that a bag would know."""
    return text.lower().split()


def unigrams_and_bigrams(text: str) -> list[str]:
    """The words, and each with the one after it."""
    found = unigrams(text)
    return [*found, *(f"{a} {b}" for a, b in zip(["", *found], [*found, ""], strict=True))]
