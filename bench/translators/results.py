"""What is seen of the systems, and what is told of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean, median

from translators import Burst, Translations
from translators.corpus import Corpus


@dataclass
class Measurements:
    """What was seen of one system, round by round."""

    parameters: int
    bursts: list[Burst] = field(default_factory=list)
    answers: list[Translations] = field(default_factory=list)

    @property
    def training_seconds(self) -> float:
        """Seconds."""
        return sum(burst.seconds for burst in self.bursts)

    @property
    def tokens_per_s(self) -> list[float]:
        """Of each burst; the first is left out where there are others: it warms up."""
        return [b.tokens / b.seconds for b in self.bursts[len(self.bursts) > 1 :]]

    @property
    def sentences_per_s(self) -> list[float]:
        return [len(answer.texts) / answer.seconds for answer in self.answers]

    @property
    def written_per_s(self) -> list[float]:
        """Tokens of answers; their ends are tokens, too."""
        return [sum(1 + _length(t) for t in answer.texts) / answer.seconds for answer in self.answers]


@dataclass(frozen=True)
class Row:
    """What is told of one system; ratios are to the first one."""

    system: str
    parameters: int
    train_s: float
    updates: int
    tokens_per_update: float
    tokens_per_s: float
    tokens_ratio: float
    tokens_per_answer: float
    sentences_per_s: float
    sentences_ratio: float
    written_ratio: float
    bleu: float


def row(system: str, seen: dict[str, Measurements], corpus: Corpus) -> Row:
    one, first = seen[system], next(iter(seen.values()))
    answers = one.answers[-1].texts
    updates = sum(burst.updates for burst in one.bursts)
    return Row(
        system=system,
        parameters=one.parameters,
        train_s=one.training_seconds,
        updates=updates,
        tokens_per_update=sum(burst.tokens for burst in one.bursts) / updates,
        tokens_per_s=median(one.tokens_per_s),
        tokens_ratio=_ratio(one.tokens_per_s, first.tokens_per_s),
        tokens_per_answer=mean(map(_length, answers)),
        sentences_per_s=median(one.sentences_per_s),
        sentences_ratio=_ratio(one.sentences_per_s, first.sentences_per_s),
        written_ratio=_ratio(one.written_per_s, first.written_per_s),
        bleu=corpus.bleu(answers),
    )


def _length(text: str) -> int:
    return len(text.split())


def _ratio(own: list[float], others: list[float]) -> float:
    return median(a / b for a, b in zip(own, others, strict=True))


def show(rows: list[Row]) -> None:
    first = rows[0].system
    print(f"{'system':13} {'params':>7} {'train s':>8} {'updates':>8} {'tok./upd.':>9}", end=" ")
    print(
        f"{'tokens/s':>9} {'ratio':>6} {'tok./ans.':>9} {'sent./s':>8} {'ratio':>6} {'a token':>7} {'BLEU':>6}"
    )
    for r in rows:
        print(f"{r.system:13} {r.parameters / 1e6:6.2f}M {r.train_s:8.0f} {r.updates:8}", end=" ")
        print(f"{r.tokens_per_update:9.0f} {r.tokens_per_s:9.0f} {r.tokens_ratio:6.2f}", end=" ")
        print(f"{r.tokens_per_answer:9.1f} {r.sentences_per_s:8.1f} {r.sentences_ratio:6.2f}", end=" ")
        print(f"{r.written_ratio:7.2f} {r.bleu:6.2f}")
    print(f"\nratio: times {first}, median over rounds; a token: of tokens written in a second")
