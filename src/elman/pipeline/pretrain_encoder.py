"""The first phase of a run that has unlabelled text: its encoder is trained as a language model."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from elman.errors import ConfigError
from elman.files.model_files import CHECKPOINT, PRETRAINING_LOG
from elman.number_format import format_number
from elman.pipeline.recipe import Recipe
from elman.pipeline.training_data import TrainingData
from elman.tasks.base import Task
from elman.tasks.unlabelled_text import read_unlabelled
from elman.text.duplicates import normal_form
from elman.training.checkpoint import read_checkpoint_config
from elman.training.distributed import count_processes, is_main_process
from elman.training.evaluation import Validation
from elman.training.run import find_resume_point, follow
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit

_PHASE = {"phase": "pretraining"}  # in a checkpoint: which of the two it is of
_READ = 800_000  # tokens that are read in all where no number of epochs is given,
_MOST = 8  # if these are not too many epochs


def read_texts(recipe: Recipe, data: TrainingData, init: Path | None) -> list[str]:
    """The unlabelled texts and those of the training examples; none where no text is unlabelled.

    What is to judge the model is left out of them: scores on texts that were read before are too good.
    """
    if not getattr(recipe.data, "unlabelled", ""):
        return []
    if init is not None:
        raise ConfigError("--init and --unlabelled both say what the encoder begins with: give one of them")
    if getattr(recipe.model, "lm_folders", {}):
        raise ConfigError(
            "lm_forward and lm_backward see the words that the encoder would learn to predict: give "
            "them or --unlabelled"
        )
    if count_processes() > 1:
        raise ConfigError("unlabelled text is read by one process only: leave out torchrun, or the text")
    content = recipe.task_class.content
    judging = {normal_form(content(example)) for example in (*data.held, *(data.test or ()))}
    unlabelled = (text for text in read_unlabelled(recipe.data) if normal_form(text) not in judging)
    return [*dict.fromkeys((*map(content, data.training), *unlabelled))]


def add_words(recipe: Recipe, model: Task, texts: list[str]) -> Task:
    """The untrained model with rows for the words of these texts, too."""
    if not texts:
        return model
    fewest = max(recipe.tokens.min_count, recipe.pretraining.min_count)
    return model.add_words(replace(recipe.tokens, min_count=fewest), texts)


def is_pretraining(folder: Path) -> bool:
    """Whether the run in a folder was interrupted in this phase."""
    path = folder / CHECKPOINT
    return path.exists() and read_checkpoint_config(path).items() >= _PHASE.items()


def pretrain_encoder(
    recipe: Recipe, model: Task, texts: list[str], folder: Path, fingerprint: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Train the encoder of a model on texts: what the record says of it; None: it was interrupted."""
    task, mark = model.pretraining(texts), {**fingerprint, **_PHASE}
    options, settings = recipe.pretraining, _settings(recipe, tokens := task.tokens, judged=len(task.held) > 0)
    limit = f", up to {format_number(settings.minutes)} minutes" if settings.minutes else ""
    first = "; its word vectors begin with counts of neighbours" if options.vectors else ""
    told = f"{len(texts):,} texts ({tokens:,} tokens) are read first, {settings.epochs} times{limit}"
    print(f"{told}, as a language model of the encoder{first}", file=sys.stderr, flush=True)
    snapshot = find_resume_point(folder, mark, asked=is_pretraining(folder))
    begun = time.monotonic() - (snapshot.state["progress"]["seconds"] if snapshot else 0)
    if options.vectors and snapshot is None:
        task.start_with_vectors()
    validation = Validation(task.validate, task.metric, "min") if len(task.held) else None
    batches = task.build_batches(options.batch_tokens, settings.seed)
    events = fit(task.net, batches, task.loss, settings, validation, resume=snapshot)
    end = follow(events, folder, mark, unit=task.unit, log=PRETRAINING_LOG)
    if end is None:
        return None
    seconds = round(time.monotonic() - begun, 1)
    return {"texts": len(texts), "tokens": tokens, "updates": end.number, "seconds": seconds, **end.scores}


def say_guesses(facts: Mapping[str, float]) -> None:
    """One line on stderr: how good guesses of the labels of unlabelled text are, and whether they are used."""
    if not facts or not is_main_process():
        return
    right, without = (f"{format_number(facts[key], 3)} %" for key in ("right", "right_without"))
    said = (
        f"the labels of {facts['guessed']:,} texts are guessed" if facts["guessed"] else "no label is guessed"
    )
    told = f"in cross-validation {right} are right, {without} without this text"
    print(f"{said}: {told}", file=sys.stderr, flush=True)


def _settings(recipe: Recipe, tokens: int, *, judged: bool) -> TrainingConfig:
    options, training = recipe.pretraining, recipe.training
    return TrainingConfig(
        lr=options.lr,
        epochs=options.epochs or min(_MOST, max(1, round(_READ / tokens))),
        minutes=options.share * training.minutes,
        patience=2 * judged,
        checkpoint_minutes=training.checkpoint_minutes,
        seed=training.seed,
    )


def leave_minutes(training: TrainingConfig, phase: Mapping[str, Any]) -> TrainingConfig:
    """The settings of the second phase, which has the minutes that the first one left."""
    if not (training.minutes and phase):
        return training
    return replace(training, minutes=max(0.01, training.minutes - phase["seconds"] / 60))
