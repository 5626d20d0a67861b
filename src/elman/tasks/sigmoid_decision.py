"""Several labels a text, or none: p(y | x) = σ(z_y / T), each label by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, logsigmoid

from elman.errors import ConfigError
from elman.metrics import calibration_error, multilabel_scores
from elman.shapes import Bool, Float, Tensor
from elman.tasks.label_data import LabeledExample, MultilabelExample
from elman.tasks.label_decision import Contrast, Decision, LabelAnswers, Logits, LossOptions, Prediction
from elman.tasks.results import Confidences, Report, ReportTable, label_table
from elman.tasks.temperature import FEWEST, fit_temperature, mean_temperature, stacked_log_sigmoid
from elman.tasks.thresholds import ENOUGH, choose_thresholds, find_threshold
from elman.text.vocab import Labels


@dataclass(frozen=True)
class SigmoidDecision(Decision):
    """All labels that are probable enough. A right answer is a tuple of ids."""

    delimiter: str = ";"  # between the labels of a text
    threshold: float = 0.5  # of labels that have none of their own
    thresholds: Mapping[str, float] = field(default_factory=dict)

    kind = "sigmoid"
    gives = "several labels a text"
    metrics = ("micro_f1", "macro_f1", "exact")

    def encode(self, example: LabeledExample, labels: Labels) -> tuple[int, ...]:
        if not isinstance(example, MultilabelExample):
            raise ConfigError("the model gives several labels a text; say --multi")
        return tuple(labels.id(label, example.where) for label in example.labels)

    def weigh(self, golds: Sequence[tuple[int, ...]], labels: int) -> Tensor:
        """Texts without a label for each that has it: so both count the same."""
        counts = _one_hot(golds, labels).sum(0).clamp(min=1)
        return ((len(golds) - counts) / counts).clamp(min=1)

    def tabulate(self, golds: Sequence[tuple[int, ...]], labels: int) -> Tensor:
        return _one_hot(golds, labels)

    def loss(self, logits: Logits, golds: Sequence[tuple[int, ...]] | Tensor, options: LossOptions) -> Tensor:
        """Binary cross-entropy, summed over the labels of a text; ``smoothing`` s is s / 2 off yes and no."""
        table = golds if isinstance(golds, Tensor) else self.tabulate(golds, logits.shape[1])
        right = table.to(logits)
        targets = right * (1 - options.smoothing) + options.smoothing / 2
        weights = None if options.weights is None else options.weights.to(logits)
        each = binary_cross_entropy_with_logits(logits, targets, pos_weight=weights, reduction="none")
        return each.sum(1).mean()

    def weight(self, golds: Sequence[tuple[int, ...]], weights: Tensor | None) -> float:
        return len(golds)

    def log_probs(self, logits: Logits) -> Logits:
        return logsigmoid(logits.double() / self.temperature)

    def decide(self, logits: Logits, names: Sequence[str]) -> list[tuple[int, ...]]:
        given = self.log_probs(logits).exp() >= self._cuts(names)
        return [tuple(row.nonzero()[:, 0].tolist()) for row in given]

    def _cuts(self, names: Sequence[str]) -> Float[Tensor, " Y"]:
        cuts = [self.thresholds.get(name, self.threshold) for name in names]
        return torch.tensor(cuts, dtype=torch.float64)  # as exact as the probabilities they were found among

    def join(self, gold: tuple[int, ...], names: Sequence[str]) -> str:
        return self.delimiter.join(names[i] for i in gold)

    def predict(self, logits: Logits, names: Sequence[str]) -> list[Prediction]:
        chances = self.log_probs(logits).exp()
        given = chances >= self._cuts(names)
        sure = torch.where(given, chances, 1 - chances).prod(1)
        orders = logits.argsort(descending=True)
        found = []
        for order, p, yes, exactly in zip(*(t.tolist() for t in (orders, chances, given, sure)), strict=True):
            labels = tuple(names[i] for i in order if yes[i])
            each = {names[i]: p[i] for i in order}
            found.append(Prediction(self.delimiter.join(labels), each, labels, exactly))
        return found

    def withhold(self, prediction: Prediction, threshold: float, otherwise: str) -> Prediction:
        sure = tuple(name for name in prediction.labels if prediction.probabilities[name] >= threshold)
        labels = sure or ((otherwise,) if otherwise else ())
        return prediction._replace(label=self.delimiter.join(labels), labels=labels)

    def confidences(self, answers: LabelAnswers) -> Confidences:
        """Of every label for every text: how probable it is, and whether the text has it."""
        sure = self.log_probs(answers.logits).exp()
        return Confidences(sure.flatten().tolist(), _right(answers).flatten().tolist())

    def report(self, answers: LabelAnswers) -> Report:
        """The scores, and each label with its threshold."""
        logits, golds, names = answers
        sets = [[names[i] for i in gold] for gold in golds]
        found = multilabel_scores(sets, [[names[i] for i in g] for g in self.decide(logits, names)])
        nll = self.reset().loss(logits.double() / self.temperature, golds, LossOptions()).item()
        scores = {"micro_f1": found.overall.f1, "macro_f1": found.macro_f1, "exact": found.exact, "nll": nll}
        scores |= {"ece": calibration_error(*self.confidences(answers)), "examples": len(golds)}
        cuts = {name: self.thresholds.get(name, self.threshold) for name in found.labels}
        record = {n: asdict(score) | {"threshold": cuts[n]} for n, score in found.labels.items()}
        title, header, rows, _ = label_table("", found.labels, "examples")
        wider = [[*row, f"{cuts[row[0]]:.2f}"] for row in rows]
        return Report(scores, {"labels": record}, [ReportTable(title, [*header, "threshold"], wider)])

    def validate(self, answers: LabelAnswers) -> dict[str, float]:
        """The scores with the best common threshold: while a model learns, all labels are improbable."""
        chances = self.log_probs(answers.logits).exp()
        common = find_threshold(chances.flatten(), _right(answers).flatten())
        return dict(replace(self, threshold=common, thresholds={}).report(answers).scores)

    def calibrate(self, answers: LabelAnswers) -> SigmoidDecision:
        right, log_probs = _right(answers), partial(stacked_log_sigmoid, answers.logits.flatten())
        gold = right.flatten().long()
        scaled = self
        if len(right) >= FEWEST:
            scaled = replace(self, calibration=fit_temperature(log_probs, gold, torch.ones_like(gold)))
        common, own = choose_thresholds(scaled.log_probs(answers.logits).exp(), right, answers.names)
        return replace(scaled, threshold=common, thresholds=own)

    def reset(self) -> SigmoidDecision:
        return SigmoidDecision(delimiter=self.delimiter)

    def mean(self, others: Sequence[Any]) -> SigmoidDecision:
        models = (self, *others)
        names = {name for model in models for name in model.thresholds}
        own = {n: sum(m.thresholds.get(n, m.threshold) for m in models) / len(models) for n in sorted(names)}
        common = sum(m.threshold for m in models) / len(models)
        fitted = mean_temperature([m.calibration for m in models])
        return replace(self, calibration=fitted, threshold=common, thresholds=own)

    def contrast(self, logits: Logits, names: Sequence[str]) -> Contrast:
        """The likeliest label against not giving it."""
        best = int(logits.argmax(-1))
        return Contrast(names[best], f"not {names[best]}", lambda z: z[:, best])

    def facts(self, names: Sequence[str]) -> list[str]:
        several = f"labels, several a text or none: {', '.join(names)}"
        shared = [name for name in names if name not in self.thresholds]
        if len(shared) == len(names):
            cuts = f"threshold: {self.threshold:.2f} for all labels"
        else:
            cuts = f"thresholds: {', '.join(f'{n} {p:.2f}' for n, p in self.thresholds.items())}"
            if shared:
                cuts += f"; {self.threshold:.2f} for {', '.join(shared)}, with fewer than {ENOUGH} examples"
        return [several, cuts, *self.calibration.facts()]

    def record(self, prediction: Prediction) -> dict[str, Any]:
        return {"labels": list(prediction.labels), "probabilities": prediction.probabilities}

    def list_parts(self, names: Sequence[str]) -> dict[str, Any]:
        return {**super().list_parts(names), "thresholds": self._cuts(names).tolist()}

    def to_json(self) -> dict[str, Any]:
        cuts = {"threshold": self.threshold, "thresholds": dict(self.thresholds)}
        return {"kind": self.kind, "delimiter": self.delimiter, **self.calibration.to_json(), **cuts}


def _one_hot(golds: Sequence[tuple[int, ...]], labels: int) -> Float[Tensor, "N Y"]:
    rows = torch.zeros(len(golds), labels)
    for row, gold in zip(rows, golds, strict=True):
        row[list(gold)] = 1
    return rows


def _right(answers: LabelAnswers) -> Bool[Tensor, "N Y"]:
    return _one_hot(answers.golds, len(answers.names)).bool()
