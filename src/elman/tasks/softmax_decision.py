"""One label a text: p(y | x) = softmax(z / T)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import torch
from torch.nn.functional import cross_entropy

from elman.errors import ConfigError
from elman.metrics import Confusion, accuracy, calibration_error, confusion, label_scores, macro_f1
from elman.shapes import Tensor
from elman.tasks.label_data import LabeledExample, MultilabelExample
from elman.tasks.label_decision import Contrast, Decision, LabelAnswers, Logits, LossOptions, Prediction
from elman.tasks.results import Confidences, Report, ReportTable, best_two, label_table
from elman.tasks.temperature import Calibration, fit_temperature, mean_temperature, scaled_log_softmax
from elman.text.vocab import Labels

_MATRIX = 1000  # labels; the matrix of more would have millions of cells


@dataclass(frozen=True)
class SoftmaxDecision(Decision):
    """The likeliest label. A right answer is its id; a guess, the probabilities of all labels."""

    kind = "softmax"
    gives = "one label a text"
    metrics = ("accuracy", "macro_f1")

    def encode(self, example: LabeledExample, labels: Labels) -> int:
        if isinstance(example, MultilabelExample):
            raise ConfigError("the model gives one label a text; leave out --multi")
        return labels.id(example.label, example.where)

    def weigh(self, golds: Sequence[int | Tensor], labels: int) -> Tensor:
        table = self.tabulate(golds, labels)
        counts = table.sum(0) if table.is_floating_point() else torch.bincount(table, minlength=labels).float()
        return counts.clamp(min=1).mean() / counts.clamp(min=1)

    def tabulate(self, golds: Sequence[int | Tensor], labels: int) -> Tensor:
        if not any(isinstance(gold, Tensor) for gold in golds):
            return torch.tensor(golds, dtype=torch.long)
        rows = torch.eye(labels)
        return torch.stack([gold if isinstance(gold, Tensor) else rows[gold] for gold in golds])

    def loss(self, logits: Logits, golds: Sequence[int | Tensor] | Tensor, options: LossOptions) -> Tensor:
        table = golds if isinstance(golds, Tensor) else self.tabulate(golds, logits.shape[1])
        gold = table.to(logits.device)
        weights = None if options.weights is None else options.weights.to(logits)
        if weights is None or not gold.is_floating_point():
            return cross_entropy(logits, gold, weights, label_smoothing=options.smoothing)
        # The mean of torch is over examples here; over their weights it is with ids.
        total = cross_entropy(logits, gold, weights, label_smoothing=options.smoothing, reduction="sum")
        return total / (gold @ weights).sum()

    def weight(self, golds: Sequence[int | Tensor], weights: Tensor | None) -> float:
        if weights is None:
            return len(golds)
        table, weights = self.tabulate(golds, len(weights)), weights.cpu()
        return (table @ weights if table.is_floating_point() else weights[table]).sum().item()

    def log_probs(self, logits: Logits) -> Logits:
        return scaled_log_softmax(logits, self.temperature)

    def decide(self, logits: Logits, names: Sequence[str]) -> list[int]:
        return [int(label) for label in logits.argmax(-1)]

    def join(self, gold: int, names: Sequence[str]) -> str:
        return names[gold]

    def predict(self, logits: Logits, names: Sequence[str]) -> list[Prediction]:
        found = []
        # By logits: probabilities may be equal where these are not.
        orders = logits.argsort(-1, descending=True).tolist()
        for order, p in zip(orders, self.log_probs(logits).exp().tolist(), strict=True):
            best, chances = names[order[0]], {names[i]: p[i] for i in order}
            found.append(Prediction(best, chances, (best,), chances[best]))
        return found

    def withhold(self, prediction: Prediction, threshold: float, otherwise: str) -> Prediction:
        if prediction.confidence >= threshold:
            return prediction
        return prediction._replace(label=otherwise, labels=(otherwise,) if otherwise else ())

    def confidences(self, answers: LabelAnswers) -> Confidences:
        best = answers.logits.argmax(-1)
        sure = self.log_probs(answers.logits).gather(1, best[:, None])[:, 0].exp()
        return Confidences(sure.tolist(), [a == g for a, g in zip(best.tolist(), answers.golds, strict=True)])

    def report(self, answers: LabelAnswers) -> Report:
        """The scores, each label, and which was taken for which."""
        logits, golds, names = answers
        gold, guess = [names[i] for i in golds], [names[i] for i in self.decide(logits, names)]
        each = label_scores(gold, guess)
        tables, record = (
            [label_table("", each, "examples")],
            {"labels": {n: asdict(s) for n, s in each.items()}},
        )
        if len({*gold, *guess}) <= _MATRIX:
            matrix = confusion(gold, guess)
            tables.append(_tabulate(matrix))
            record["confusion"] = asdict(matrix)
        nll = -self.log_probs(logits).gather(1, torch.tensor(golds)[:, None]).mean().item()
        scores = {"accuracy": accuracy(gold, guess), "macro_f1": macro_f1(gold, guess), "nll": nll}
        scores |= {"ece": calibration_error(*self.confidences(answers)), "examples": len(gold)}
        return Report(scores, record, tables)

    def calibrate(self, answers: LabelAnswers) -> SoftmaxDecision:
        fitted = fit_temperature(
            partial(scaled_log_softmax, answers.logits), torch.tensor(answers.golds), answers.logits.argmax(-1)
        )
        return replace(self, calibration=fitted)

    def reset(self) -> SoftmaxDecision:
        return SoftmaxDecision()

    def mean(self, others: Sequence[Any]) -> SoftmaxDecision:
        return replace(self, calibration=mean_temperature([d.calibration for d in (self, *others)]))

    def contrast(self, logits: Logits, names: Sequence[str]) -> Contrast:
        """The likeliest label against the next one."""
        best, other = (int(label) for label in best_two(logits))
        return Contrast(names[best], names[other], lambda z: z[:, best] - z[:, other])

    def facts(self, names: Sequence[str]) -> list[str]:
        return [f"labels: {', '.join(names)}", *self.calibration.facts()]

    def record(self, prediction: Prediction) -> dict[str, Any]:
        return {"label": prediction.label, "probabilities": prediction.probabilities}

    def to_json(self) -> dict[str, Any]:
        if self.calibration == Calibration():
            return {}
        return {"kind": self.kind, **self.calibration.to_json()}


def _tabulate(matrix: Confusion) -> ReportTable:
    counts = zip(matrix.labels, matrix.counts, strict=True)
    rows = [[name, *(f"{n:,}" for n in row)] for name, row in counts]
    return ReportTable("confusion (rows: gold, columns: predicted)", ["", *matrix.labels], rows)
