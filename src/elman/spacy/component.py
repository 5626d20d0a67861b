"""What the components have in common: a model folder, batches, and how they are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import srsly
from spacy.tokens import Doc
from spacy.util import minibatch

from elman import artifact
from elman.artifact.model_bytes import model_from_files, model_to_files
from elman.errors import ModelError
from elman.tasks.base import Task
from elman.tasks.registry import TASKS

M = TypeVar("M", bound=Task[Any])


class ModelComponent(ABC, Generic[M]):
    """A trained model that annotates documents. It is not trained by spaCy.

    A pipeline that is stored holds a copy of the model folder. So ``spacy.load`` needs the folder of the
    configuration no longer: it is read when the first document comes, unless a copy was read before.
    """

    def __init__(self, folder: str, device: str) -> None:
        self.folder, self.device = Path(folder), device
        self._model: M | None = None
        if self.folder.exists():
            self._check_task()

    @property
    @abstractmethod
    def kind(self) -> type[M]:
        """The task of the model."""

    @abstractmethod
    def annotate(self, docs: Sequence[Doc]) -> None:
        """Write the answers of the model into documents."""

    def check(self, model: M) -> None:
        """Refuse a model of the right task that cannot annotate what this component does."""

    @property
    def elman_model(self) -> M:
        """The model, loaded when it is first needed: spaCy itself looks at what is called ``model``."""
        if self._model is None:
            self._keep(artifact.load(self.folder, self.kind, device=self.device))
        assert self._model is not None
        return self._model

    def __call__(self, doc: Doc) -> Doc:
        """The document, annotated."""
        self.annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """The documents of a stream, annotated many at once."""
        for docs in minibatch(stream, batch_size):
            self.annotate(docs)
            yield from docs

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write a copy of the model folder."""
        artifact.save_model(self.elman_model, path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> ModelComponent[M]:
        """Read the copy that `to_disk` wrote."""
        self._keep(artifact.load(path, self.kind, device=self.device))
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The same copy as bytes."""
        return bytes(srsly.msgpack_dumps(model_to_files(self.elman_model)))

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> ModelComponent[M]:
        """Read what `to_bytes` gave."""
        self._keep(model_from_files(srsly.msgpack_loads(data), self.kind, device=self.device))
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "device": self.device, "bytes": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.folder, self.device = state["folder"], state["device"]
        self.from_bytes(state["bytes"])

    def _keep(self, model: M) -> None:
        self.check(model)
        self._model = model

    def _check_task(self) -> None:
        """Refuse at once the folder of another task, without reading its weights."""
        stored = TASKS[artifact.read_config(self.folder)["task"]]
        if stored != self.kind.spec:
            raise ModelError(f"{self.folder} holds {stored.title}, not {self.kind.spec.title}")
