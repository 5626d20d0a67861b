"""``decision.json``: how a model folder keeps what turns logits into answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from elman.errors import ModelError
from elman.files.model_files import DECISION
from elman.tasks.label_data import LabeledExample, MultilabelExample
from elman.tasks.label_decision import Decision
from elman.tasks.sigmoid_decision import SigmoidDecision
from elman.tasks.softmax_decision import SoftmaxDecision
from elman.tasks.temperature import Calibration
from elman.text.json_io import read_json, write_json


def decision_for(examples: Sequence[LabeledExample]) -> Decision:
    """Sigmoids where examples have several labels, else a softmax."""
    first = examples[0] if examples else None
    if isinstance(first, MultilabelExample):
        return SigmoidDecision(delimiter=first.delimiter)
    return SoftmaxDecision()


def save_decision(decision: Decision, folder: Path) -> None:
    """Write what there is to know of a decision."""
    if stored := decision.to_json():
        write_json(folder / DECISION, stored)


def load_decision(folder: Path) -> Decision:
    """The decision of a folder; without a file it is a softmax at temperature 1."""
    path = folder / DECISION
    if not path.exists():
        return SoftmaxDecision()
    stored = read_json(path)
    try:
        calibration = Calibration.from_json(stored)
        if stored["kind"] == SoftmaxDecision.kind:
            return SoftmaxDecision(calibration)
        if stored["kind"] == SigmoidDecision.kind:
            common, own = float(stored["threshold"]), {k: float(v) for k, v in stored["thresholds"].items()}
            return SigmoidDecision(calibration, str(stored["delimiter"]), common, own)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"{path}: the file is damaged ({error!r})") from None
    raise ModelError(f"{path}: the file is damaged, its kind is unknown")
