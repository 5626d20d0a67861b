"""The end of a run that held examples out: its network is trained anew on all of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load, save

from elman.files.atomic_files import write_atomically
from elman.files.model_files import PRETRAINED
from elman.interruption import Interrupted, defer_signals
from elman.number_format import format_number
from elman.pipeline.recipe import Recipe, train_target
from elman.shapes import Tensor
from elman.tasks.base import Task
from elman.training.display import make_display
from elman.training.distributed import is_main_process
from elman.training.ema import load_weights
from elman.training.final_loss import FinalLoss
from elman.training.training_loop import fit

Weights = Mapping[str, Tensor]


class FirstWeights(NamedTuple):
    """What a network is before it is trained, and the texts without labels that made it so, if any."""

    weights: Weights
    texts: Sequence[str]
    loss: FinalLoss  # of the training that was validated


def copy_parameters(model: Task) -> dict[str, Tensor]:
    """The weights that training changes, as they are now."""
    return {name: weight.detach().clone() for name, weight in model.net.named_parameters()}


def keep_first_weights(model: Task, folder: Path) -> None:
    """Write the weights that text without labels gave: a run that is resumed could not make them again."""
    write_atomically(folder / PRETRAINED, save(copy_parameters(model)))


def find_first_weights(model: Task, folder: Path) -> Weights:
    """Those that were kept, or where none were, the weights that the model has."""
    path = folder / PRETRAINED
    return load(path.read_bytes()) if path.exists() else copy_parameters(model)


def refit_network(recipe: Recipe, model: Task, examples: Any, first: FirstWeights) -> dict[str, int] | None:
    """Train a model on all examples from its first weights, as it was on most of them: what it has read.

    What was chosen on those that were held out stays as it is: how sure answers are, and what is mixed. Where
    examples are too few to choose by a part of them, all choose: each by a network of the others, in folds.
    Where it is interrupted or fails, the model stays the one that was validated; also, with None, where it fits
    its examples clearly less than that one did: a training of few examples may miscarry.
    """
    validated, dataset = copy_parameters(model), model.encode(examples)
    stats = model.dataset_stats(dataset)
    dataset, _ = model.guess_labels(dataset, first.texts, recipe.pretraining)
    try:
        said = _judge_folds(recipe, model, dataset, first.weights)
        if said is not None:
            _say(f"of texts that were not learnt, in all folds: {model.choose_by_folds(dataset, said)}")
        known = (stats["examples"], model.noun) if "examples" in stats else (stats["tokens"], model.unit)
        _say(f"now all {known[0]:,} {known[1]} are trained on")
        with model.training_anew():
            loss = _train(recipe, model, dataset, first.weights)
    except BaseException:
        load_weights(model.net, validated)
        raise
    if loss.is_worse_than(first.loss):
        after, before = (format_number(one.mean, 3) for one in (loss, first.loss))
        _say(f"it learnt less (loss {after}, {before} before): the network that was validated stays")
        load_weights(model.net, validated)
        return None
    return stats


def _judge_folds(recipe: Recipe, model: Task, dataset: Any, first: Weights) -> Tensor | None:
    """What the network says of each example when it has not read it; None where nothing is chosen by that."""
    fold = model.deal_folds(dataset)
    if fold is None:
        return None
    said, folds = [], int(fold.max()) + 1
    for number in range(folds):
        _say(f"how much the network counts, all {model.noun} say: fold {number + 1} of {folds}")
        _train(recipe, model, dataset.pick((fold != number).nonzero()[:, 0].tolist()), first)
        said.append(model.judge_alone(dataset.pick((fold == number).nonzero()[:, 0].tolist())))
    joined = torch.cat(said)
    return joined[torch.cat([(fold == number).nonzero()[:, 0] for number in range(folds)]).argsort()]


def _train(recipe: Recipe, model: Task, dataset: Any, first: Weights) -> FinalLoss:
    """From its first weights, by the settings of the run."""
    loss = FinalLoss()
    target = train_target(recipe, model)
    batches = model.build_batches(dataset, recipe.data, recipe.training.seed)
    load_weights(model.net, dict(first))
    display = make_display(model.unit) if is_main_process() else None
    try:
        events = loss.watch(fit(target.net, batches, target.loss, recipe.training))
        with closing(events), defer_signals() as signals:
            for event in events:
                if display is not None:
                    display.show(event)
                if signals:
                    raise Interrupted(signals[0])
    finally:
        if display is not None:
            display.close()
    return loss


def _say(line: str) -> None:
    if is_main_process():
        print(line, file=sys.stderr, flush=True)
