"""What a user does with a model of any task: train, load, save, evaluate, show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypedDict, Unpack, cast, runtime_checkable

from torch import nn
from typing_extensions import TypeVar

from elman.errors import ArgumentError, ConfigError, show_value
from elman.number_format import format_scores
from elman.tasks.results import CardInfo, ModelRecord
from elman.tasks.spec import TaskSpec
from elman.text.tables.in_memory import InMemory, StrPath

if TYPE_CHECKING:
    from elman.tasks.base import Task, TaskDefaults

Row = TypeVar("Row", default=Any)
"""An example as a user may give it."""
M = TypeVar("M", bound="UserMethods[Any]")


@runtime_checkable
class DataFrame(Protocol):
    """A data frame of pandas, or what looks like one."""

    @property
    def columns(self) -> Any: ...
    def to_dict(self, orient: Any, /) -> Any: ...


@runtime_checkable
class ArrowData(Protocol):
    """A table of Arrow, a batch of its rows, or a reader of such."""

    @property
    def schema(self) -> Any: ...


Examples = Iterable[Row] | DataFrame | ArrowData | StrPath | tuple[StrPath, ...]
"""Rows in memory, or the path of a file, or the paths of files that belong together."""


class TrainOptions(TypedDict, total=False):
    """The options of training that have names of their own, as flags of ``elman train`` have."""

    cell: Any  # a name, "FILE.py:NAME", a formula or a class of cells
    hidden: int
    layers: int
    dropout: float
    vectors: str
    epochs: int
    batch: int
    lr: float
    minutes: float
    seed: int
    tensorboard: bool
    wandb: bool
    mlflow: bool
    device: str
    init: StrPath
    resume: bool
    overwrite: bool
    skip_bad: bool
    unlabelled: Any  # texts, or the path of a file of them
    multi: bool
    label_delimiter: str
    metric: str


RUN_OPTIONS = ("device", "init", "resume", "overwrite")  # of the run, not of its recipe


class UserMethods(Generic[Row]):
    """The verbs that all tasks have in common. Those that need the rest of Elman ask its front door for it."""

    spec: ClassVar[TaskSpec]
    defaults: ClassVar[TaskDefaults]
    net: nn.Module
    record: ModelRecord | None = None  # of how it was trained

    @classmethod
    def train(
        cls: type[M],
        examples: Examples[Row],
        *,
        valid: Examples[Row] | None = None,
        out: StrPath | None = None,
        recipe: Mapping[str, Any] | None = None,
        **options: Unpack[TrainOptions],
    ) -> M:
        """A model trained on examples: tuples, mappings, a data frame or dataset, or files by their paths.

        What is left out is chosen by the data, as ``elman train`` does (docs/defaults.md). Without ``valid`` a
        tenth is held out for early stopping. ``recipe`` has sections of a recipe for
        all that has no option of its own: ``{"model": {"pool": "mean"}}``. With ``out`` it is a model folder
        in the end (one that holds anything is refused, unless you ``overwrite``); without, call ``save``.
        """
        import elman

        given = _check_sections({} if recipe is None else recipe).items()
        sections = {name: dict(part) if isinstance(part, Mapping) else part for name, part in given}
        data = sections.setdefault("data", {})
        data["train"] = InMemory.hold(examples)
        if valid is not None:
            data["valid"] = InMemory.hold(valid)
        if sections.get("task", cls.spec.name) != cls.spec.name:
            raise ConfigError(f"the recipe is of the task {sections['task']!r}, not of {cls.spec.title}")
        chosen: dict[str, Any] = dict(options)
        run = {name: chosen.pop(name) for name in RUN_OPTIONS if name in chosen}
        for name, value in chosen.items():
            if (flag := cls.spec.flags.get(_flag(name))) is None:
                known = [
                    n for n in TrainOptions.__annotations__ if _flag(n) in cls.spec.flags or n in RUN_OPTIONS
                ]
                raise ConfigError(f"unknown option {name!r}; {cls.spec.title} has {', '.join(known)}")
            section, _, key = flag.key.rpartition(".")
            value = InMemory.hold(value) if name == "unlabelled" else value
            (sections.setdefault(section, {}) if section else sections)[key] = value
        model = elman.train({"task": cls.spec.name, **sections}, out, choose_defaults=True, **run)
        assert isinstance(model, cls)
        return model

    @classmethod
    def load(cls: type[M], folder: StrPath, *, device: str = "auto", cell: Any = None) -> M:
        """The model in a folder, which must be one of this task; ``cell`` is as in `elman.load`."""
        import elman

        return elman.load(folder, cls, device=device, cell=cell)

    def save(self, folder: StrPath, *, overwrite: bool = False) -> None:
        """Write a model folder: weights, vocabularies, settings, scores and a model card.

        A model that is there is replaced when the new one is complete; with ``overwrite`` also files of the
        same names that Elman did not write.
        """
        import elman

        elman.save(cast("Task[Row]", self), folder, overwrite=overwrite)

    def evaluate(self, examples: Examples[Row]) -> dict[str, float]:
        """The scores of examples, which are given as to ``train``."""
        return self.evaluate_dataset(self.read_dataset(examples))

    def read_dataset(self, examples: Examples[Row]) -> Any:
        """Examples as numbers, read as in training."""
        data = self.record.data if self.record else self.defaults.data
        return self.encode(self.read(data, InMemory.hold(examples)))

    if TYPE_CHECKING:  # what `Task` has
        read: Callable[..., Any]
        encode: Callable[..., Any]
        evaluate_dataset: Callable[..., dict[str, float]]
        card_info: Callable[[], CardInfo]

    def summary(self) -> dict[str, str]:
        """What the model is: its task, its network and labels, its size."""
        facts = (fact.partition(": ") for fact in self.card_info().facts)
        size = sum(weight.numel() for weight in self.net.parameters())
        known = {name: value for name, colon, value in facts if colon}
        return {"task": self.spec.name, **known, "parameters": f"{size:,}"}

    def __repr__(self) -> str:
        parts = "; ".join(f"{name}: {value}" for name, value in self.summary().items())
        return f"<{type(self).__name__} {parts}>"

    def _repr_html_(self) -> str:
        measured = self.record.metrics if self.record else {}
        scores = {name: format_scores(measured[name]) for name in ("valid", "test") if measured.get(name)}
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>"
            for name, value in {**self.summary(), **scores}.items()
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def _check_sections(recipe: Any) -> Mapping[str, Any]:
    if not isinstance(recipe, Mapping):
        raise ArgumentError(f"train: recipe is {show_value(recipe)}; it must be a dict of sections")
    if not isinstance(data := recipe.get("data", {}), Mapping):
        raise ArgumentError(f"train: recipe['data'] is {show_value(data)}; it must be a dict of options")
    return recipe


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"
