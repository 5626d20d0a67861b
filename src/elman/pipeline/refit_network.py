"""The end of a run that held examples out: its network is trained anew on all of them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from elman.interruption import Interrupted, defer_signals
from elman.pipeline.recipe import Recipe, train_target
from elman.shapes import Tensor
from elman.tasks.base import Task
from elman.training.display import make_display
from elman.training.distributed import is_main_process
from elman.training.ema import load_weights
from elman.training.training_loop import fit

Weights = Mapping[str, Tensor]


def copy_parameters(model: Task) -> dict[str, Tensor]:
    """The weights that training changes, as they are now."""
    return {name: weight.detach().clone() for name, weight in model.net.named_parameters()}


def refit_network(recipe: Recipe, model: Task, examples: list[Any], first: Weights) -> dict[str, int]:
    """Train a model on all examples from its ``first`` weights, as it was on most of them: what it has read.

    What was chosen on those that were held out stays as it is: how sure answers are, and what is mixed. Where
    it is interrupted or fails, the weights stay those that were validated.
    """
    validated, dataset = copy_parameters(model), model.encode(examples)
    target = train_target(recipe, model)
    batches = model.build_batches(dataset, recipe.data, recipe.training.seed)
    load_weights(model.net, dict(first))
    display = make_display(model.unit) if is_main_process() else None
    if display is not None:
        print(f"now all {len(examples):,} {model.noun} are trained on", file=sys.stderr, flush=True)
    try:
        events = fit(target.net, batches, target.loss, recipe.training)
        with closing(events), defer_signals() as signals:
            for event in events:
                if display is not None:
                    display.show(event)
                if signals:
                    raise Interrupted(signals[0])
    except BaseException:
        load_weights(model.net, validated)
        raise
    finally:
        if display is not None:
            display.close()
    return model.dataset_stats(dataset)
