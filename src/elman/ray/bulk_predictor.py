"""A model in a worker of Ray Data: loaded once, asked batch after batch."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from elman.artifact import load
from elman.errors import ConfigError, ModelError
from elman.ray.column_batch import Column, add_columns, column_names, take_column
from elman.tasks.base import PredictOptions, Task
from elman.tasks.table_answers import answer_rows, find_texts, free_names, trained_columns, wanted_columns
from elman.text.tables import StrPath, Table, TableRow

_OF_THE_COMMAND = frozenset({"format", "table", "others", "attention", "show_attention", "beam_tree"})


class Predictor:
    """Adds a model's answers to batches of columns, as ``elman predict`` adds them to a table.

    For ``Dataset.map_batches`` of Ray Data, which makes one in each worker. ``text`` names the column of the
    texts, or the columns of pairs, where they are not called as in training. ``device`` is the GPU that Ray
    gives the worker, else the CPU. Further options are those of ``elman predict``: ``threshold``,
    ``otherwise``, ``n_best``, ``beam`` and the like.
    """

    def __init__(
        self, model: StrPath, *, text: str | Sequence[str] = (), device: str = "", **options: Any
    ) -> None:
        self.model = load(model, device=device or given_device())
        if not self.model.predict_options:
            raise ModelError(f"{model} holds {self.model.spec.owner}")
        self.options = _build_options(self.model, options)
        self.wanted = wanted_columns(self.model, (text,) if isinstance(text, str) else text)
        self.kinds = self.model.answer_columns(self.options)

    def __call__(self, batch: Any) -> Any:
        """The batch, be it of numpy, pandas or Arrow, with the columns of the answers at its end."""
        names = column_names(batch)
        places = find_texts(Table("a batch", names, ()), self.wanted, trained_columns(self.model))
        read = tuple(names[place] for place in places)
        texts = zip(*(take_column(batch, name) for name in read), strict=True)
        table = Table("a batch", read, [TableRow(i, cells) for i, cells in enumerate(texts, 1)])
        rows = answer_rows(self.model, table, range(len(read)), self.options)
        cells = [answer.cells if answer else [None] * len(self.kinds) for _, answer in rows]
        added = free_names(self.kinds, names)
        kinds = enumerate(self.kinds.items())
        return add_columns(
            batch, {added[name]: Column(kind, [c[i] for c in cells]) for i, (name, kind) in kinds}
        )


def given_device() -> str:
    """The GPU that Ray gives this worker, else the CPU; in a worker, Ray is loaded."""
    ray: Any = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return "cpu"
    return "cuda" if ray.get_runtime_context().get_accelerator_ids().get("GPU") else "cpu"


def _build_options(model: Task, given: Mapping[str, Any]) -> PredictOptions:
    """The given options as a task takes them; one that it would ignore is refused."""
    known = model.predict_options - _OF_THE_COMMAND
    known |= {"otherwise"} if "threshold" in known else frozenset()
    for name in given:
        if name not in known:
            has = ", ".join(sorted(known))
            raise ConfigError(f"unknown option {name!r} for {model.spec.title}; there are {has}")
    if "otherwise" in given and "threshold" not in given:
        raise ConfigError("otherwise is the answer below threshold: give that, too")
    if "threshold" in given and "n_best" in given:
        raise ConfigError("threshold gives one answer, n_best several: leave one of them out")
    own = {name: value for name, value in given.items() if name in PredictOptions._fields}
    search = {name: value for name, value in given.items() if name not in own}
    return PredictOptions(_at_once, decoding=search, **own)


def _at_once(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """A batch in one piece: its size was chosen for Ray."""
    yield list(rows)
