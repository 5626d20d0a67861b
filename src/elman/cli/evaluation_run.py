"""What elman evaluate was asked for, and a model evaluated by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from elman.cli.decoding_options import DecodingOptions
from elman.cli.model_args import load_model
from elman.cli.terminal import progress_bar
from elman.errors import ConfigError
from elman.files.model_files import CONFIG
from elman.tasks.registry import TASKS

if TYPE_CHECKING:
    from elman.tasks.base import Task
    from elman.tasks.judgement import Judgement


def split_folders(paths: Sequence[str]) -> tuple[list[Path], tuple[str, ...]]:
    """The model folders that come first, which have a config.json, and the files after them."""
    first, *rest = map(Path, paths)
    folders = [first]
    while rest and (rest[0] / CONFIG).exists():
        folders.append(rest.pop(0))
    return folders, tuple(paths[len(folders) :])


class Evaluated(NamedTuple):
    """A model, the data as it reads it, and how it did on them."""

    model: Task
    dataset: Any
    judgement: Judgement


@dataclass(frozen=True)
class EvaluationRun:
    """The files to evaluate on, and the options that say how."""

    files: tuple[str, ...]
    ways: dict[str, Any]  # to adapt while reading
    decoding: DecodingOptions
    device: str
    changed: dict[str, Any]  # keys of the data that differ from those of the training

    def check(self, folder: Path) -> Any:
        """The options of the data of the model in a folder; refuses options that are not for its task."""
        from elman import artifact
        from elman.config import build_config

        config = artifact.read_config(folder)
        name, task = config["task"], TASKS[config["task"]].load()
        data = build_config(type(task.defaults.data), config["data"])
        for way in self.ways:
            if way not in task.evaluate_options:
                raise ConfigError(f"--{way} is not for a {name}")
        self.decoding.reject_unknown(name, task.evaluate_options)
        for key in self.changed:
            if not hasattr(data, key):
                raise ConfigError(f"--{key} is not for a {name}")
        return replace(data, **self.changed)

    def judge(self, folder: Path) -> Evaluated:
        """The model in a folder, evaluated."""
        data = self.check(folder)
        model = load_model(folder, self.device)
        dataset = model.encode(model.read(data, self.files if len(self.files) > 1 else self.files[0]))
        others = {"others": found} if (found := self.decoding.others(self.device)) else {}
        with _counting() as progress:
            options = {**self.ways, **self.decoding.overrides, **others}
            return Evaluated(model, dataset, model.judge(dataset, progress, **options))


@contextmanager
def _counting() -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar that is begun when there is something to count."""
    with progress_bar() as bar:
        tasks: dict[str, int] = {}

        def count(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done)  # type: ignore[arg-type]

        yield count
