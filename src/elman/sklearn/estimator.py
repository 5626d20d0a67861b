"""What both estimators have: the options of training as parameters, and a model that can be pickled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from typing import Any
from warnings import catch_warnings, simplefilter, warn_explicit

from sklearn.base import BaseEstimator

from elman.artifact.model_bytes import model_from_files, model_to_files


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The options of training, with the names of ``elman.Classifier.train``; None: the default of the task.

    Nothing is checked before ``fit``, as scikit-learn has it. After it, ``model_`` is the trained model.
    """

    cell: Any = None  # "lstm", "gru", …
    hidden: Any = None  # units of a layer
    layers: Any = None
    dropout: Any = None
    vectors: Any = None  # a file of pretrained vectors
    epochs: Any = None
    batch: Any = None  # tokens
    lr: Any = None  # learning rate
    minutes: Any = None  # stop after so long
    seed: Any = None
    device: Any = None  # "cpu" or "cuda"
    init: Any = None  # a model folder to begin with
    recipe: Any = None  # sections of a recipe, for all that has no option: {"model": {"pool": "mean"}}
    verbose: Any = False  # show progress on stderr

    def _train(self, kind: Any, rows: list[Any], **more: Any) -> Any:
        """A model of a task, trained on rows by the parameters."""
        given = {**self.get_params(deep=False), **more}
        options = {name: value for name, value in given.items() if value is not None}
        if options.pop("verbose"):
            return kind.train(rows, **options)
        with _without_progress():
            return kind.train(rows, **options | {"recipe": _without_baseline(options.get("recipe"))})

    def __getstate__(self) -> dict[str, Any]:
        """The model as the files of its folder, so that no weights or code are pickled."""
        state: dict[str, Any] = dict(super().__getstate__())
        if model := state.get("model_"):
            state["model_"] = (type(model), model_to_files(model))
        return state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        state = dict(state)
        if "model_" in state:
            kind, files = state["model_"]
            state["model_"] = model_from_files(files, kind)
        super().__setstate__(state)


def _without_baseline(recipe: Any) -> Any:
    """The sections of a recipe, in which no baseline is asked for: nobody would see it."""
    sections = {} if recipe is None else recipe
    if not isinstance(sections, Mapping) or not isinstance(sections.get("training", {}), Mapping):
        return recipe  # what is wrong with it is for training to say
    return {**sections, "training": {"baseline": False, **sections.get("training", {})}}


@contextmanager
def _without_progress() -> Iterator[None]:
    """Nothing on stderr but warnings: a grid search trains many times."""
    with catch_warnings(record=True) as caught:
        simplefilter("always")
        with redirect_stderr(StringIO()):
            yield
    for one in caught:
        warn_explicit(one.message, one.category, one.filename, one.lineno)
