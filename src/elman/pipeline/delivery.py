"""The end of a run: the model is tested, described and put into its place, whatever else fails."""

from __future__ import annotations

from typing import Any, NamedTuple

from elman import artifact
from elman.config import to_plain
from elman.errors import ModelError
from elman.folders.folder_contents import has_model
from elman.folders.run_folder import RunFolder
from elman.interruption import unhurried
from elman.number_format import format_scores
from elman.pipeline.baseline_report import JudgedBaseline, judge_baseline, say_baseline
from elman.pipeline.model_card import write_model_card
from elman.pipeline.recipe import Recipe
from elman.pipeline.refit_network import FirstWeights, refit_network
from elman.pipeline.run_record import RunRecord
from elman.pipeline.training_data import TrainingData
from elman.tasks.base import Task
from elman.tasks.results import ModelRecord
from elman.training.distributed import is_main_process
from elman.training.events import TrainingEnd


class Delivery(NamedTuple):
    """What a run has to deliver: a model, and all that its folder tells of it."""

    recipe: Recipe
    model: Task
    data: TrainingData
    dataset: Any  # what it was trained on, encoded
    stats: dict[str, Any]
    end: TrainingEnd
    record: RunRecord
    first: FirstWeights | None = None  # where it is to be trained anew on all examples


def deliver(run: Delivery, valid: Any, folder: RunFolder) -> dict[str, Any]:
    """Test and save the model: its metrics. A failure, of the run or the test, is raised when it is saved.

    A run that failed does not replace a model: what it learnt stays in its checkpoint.
    """
    end = run.end
    if end.failure and has_model(folder.out):
        raise ModelError(f"{end.failure}; the model in {folder.out} stays as it was")
    chosen = run.model.calibrate(valid)
    metrics: dict[str, Any] = {"valid": end.scores | chosen, "updates": end.number, "stopped": end.reason}
    metrics["trained_on"] = run.stats
    failure: BaseException | None = None
    baseline: JudgedBaseline | None = None
    try:
        if is_main_process() and not end.failure:
            baseline = _judge_baseline(run, valid, metrics)
        if not run.recipe.data.valid:
            run.model.learn_held_out(run.data.training, run.data.held)
        if run.first is not None and not end.failure:
            examples = run.model.join(run.data.training, run.data.held)
            known = refit_network(run.recipe, run.model, examples, run.first)
            run = run if known is None else run._replace(stats=known)
            metrics["trained_on"] = run.stats
        if run.data.test is not None:
            metrics["test"] = run.model.evaluate_dataset(run.model.encode(run.data.test))
    except BaseException as error:  # a signal, too
        failure = error
    if is_main_process():
        _save(run, metrics, baseline, folder)
    if baseline is not None:
        say_baseline(baseline, run.recipe)
    if failure is not None:
        raise failure
    if end.failure:
        best = f"that of the best evaluation ({format_scores(end.scores)})"
        raise ModelError(f"{end.failure}; the model in {folder.out} is {best}")
    return metrics


def _judge_baseline(run: Delivery, valid: Any, metrics: dict[str, Any]) -> JudgedBaseline | None:
    data, scores = (run.dataset, valid), metrics["valid"]
    judged = judge_baseline(run.recipe, run.model, *data, scores, run.record.elapsed)
    if judged is not None:
        metrics["baseline"] = dict(judged.scores)
        run.record.add_baseline(judged.name, judged.seconds)
    return judged


def _save(run: Delivery, metrics: dict[str, Any], baseline: JudgedBaseline | None, folder: RunFolder) -> None:
    try:
        with unhurried(), folder.stage_model() as staging:
            about = run.record.finish(run.end.number)
            card = write_model_card(run.recipe, run.model, metrics, run.stats, about, baseline)
            config, reports = to_plain(run.recipe), tuple(run.data.reports)
            run.model.record = ModelRecord(run.recipe.data, config, metrics, card, reports, about)
            artifact.write_model(run.model, run.model.record, staging)
    except OSError as error:
        said = f"the model cannot be written to {folder.out} ({error.strerror or error})"
        cause = f"{run.end.failure}; " if run.end.failure else ""
        rest = "its weights are in the checkpoint, and --resume writes them"
        raise ModelError(f"{cause}{said}; {rest}") from None
