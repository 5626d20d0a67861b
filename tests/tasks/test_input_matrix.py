"""Every kind of input, for every task, by the command and in Python: the same examples."""

from pathlib import Path
from typing import Any

import click
import datasets
import pytest

import elman
import elman.cli.train
from elman.pipeline.recipe import build
from elman.tasks.registry import TASKS
from tests.tasks.input_kinds import JSON_FILES, LABEL_FILES, OBJECTS, TEXT_FILES, write_binary, write_folder

TEXTS = ["Schön, aber teuer; leider", 'Er sagte: "Nie\nwieder!"', "naja … 5 €"]
TASK_ROWS: dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]] = {
    "classifier": (("Text", "Category"), list(zip(TEXTS, ["pos", "neg", "neg"], strict=True))),
    "pairs": (("Premise", "Hypothesis", "Label"), [(text, text[::-1], "yes") for text in TEXTS]),
    "seq2seq": (("Source", "Target"), [(text, text.upper()) for text in TEXTS]),
    "lm": (("id", "Review"), [(f"n{number}", text) for number, text in enumerate(TEXTS)]),
    "tagger": (("tokens", "ner_tags"), [(["Ann", "left"], ["B-PER", "O"]), (["Who"], ["O"])]),
}
TABLE_FILES = [*TEXT_FILES, *JSON_FILES, "a.parquet", "a.xlsx"]
FILES = [
    *((task, name) for task in ("classifier", "pairs", "seq2seq", "lm") for name in TABLE_FILES),
    *(("classifier", name) for name in (*LABEL_FILES, "folder")),
    *(("pairs", name) for name in LABEL_FILES),
    *(("tagger", name) for name in (*JSON_FILES, "a.parquet")),
]


class Stop(Exception):
    """Training would begin."""


def write(folder: Path, task: str, name: str) -> Path:
    columns, rows = TASK_ROWS[task]
    path = folder / name
    if name == "folder":
        write_folder(path, rows)
    elif name in ("a.parquet", "a.xlsx"):
        write_binary(path, columns, rows)
    else:
        path.write_bytes((TEXT_FILES | JSON_FILES | LABEL_FILES)[name](columns, rows))
    return path


def typed(task: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The examples that ``elman train TASK --train PATH`` reads."""
    seen = []
    monkeypatch.setattr(elman.cli.train, "run_training", lambda recipe, how: seen.append(recipe))
    command = elman.cli.train.train.commands[task]
    with click.Context(command):
        command.main(["--train", str(path), "--out", "m"], standalone_mode=False)
    return contents(seen[0])


def called(task: str, source: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The examples that ``Task.train(SOURCE)`` reads."""
    seen: list[dict[str, Any]] = []

    def stop(recipe: dict[str, Any], out: object, **options: object) -> None:
        seen.append(recipe)
        raise Stop

    monkeypatch.setattr(elman, "train", stop)
    with pytest.raises(Stop):
        TASKS[task].load().train(source)
    return contents(build(seen[0]))


def contents(recipe: Any) -> list[Any]:
    """What examples say, whatever their place."""
    found = recipe.task_class.read(recipe.data, recipe.data.train, train=True)
    if recipe.task == "lm":
        return list(found.lines())
    return [tuple(part for name, part in e._asdict().items() if name not in ("where", "inputs")) for e in found]


def expected(task: str) -> list[Any]:
    rows = TASK_ROWS[task][1]
    if task == "lm":
        return [line for _, text in rows for line in text.split("\n")]
    if task == "tagger":
        return [(tuple(words), (tuple(tags),), ("tags",)) for words, tags in rows]
    return [(source, (target,)) for source, target in rows] if task == "seq2seq" else rows


@pytest.mark.parametrize(("task", "name"), FILES)
def test_a_file_gives_the_same_examples_to_the_command_and_to_python(task, name, tmp_path, monkeypatch):
    path = write(tmp_path, task, name)
    key = sorted if name == "folder" else list
    assert key(typed(task, path, monkeypatch)) == key(expected(task))
    assert key(called(task, path, monkeypatch)) == key(expected(task))


@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("task", TASK_ROWS)
def test_what_a_program_holds_gives_the_same_examples(task, kind, monkeypatch):
    columns, rows = TASK_ROWS[task]
    if task == "lm" and kind in ("tuples", "lists"):
        rows, columns = [row[1:] for row in rows], columns[1:]
    assert called(task, OBJECTS[kind](columns, rows), monkeypatch) == expected(task)


@pytest.mark.parametrize("task", ["classifier", "pairs", "seq2seq", "tagger"])
def test_the_tasks_own_examples_are_examples(task, monkeypatch):
    rows = TASK_ROWS[task][1]
    source = OBJECTS["tuples"](*TASK_ROWS[task])
    recipe = build({"task": task, "data": {"train": elman.text.tables.InMemory.hold(source)}})
    examples = list(recipe.task_class.read(recipe.data, recipe.data.train))
    assert len(examples) == len(rows)
    assert called(task, examples, monkeypatch) == expected(task)


@pytest.mark.parametrize("feature", [datasets.Sequence, datasets.List, lambda inner: [inner]])
def test_tags_that_are_classes_become_their_names(feature, monkeypatch):
    classes = datasets.ClassLabel(names=["O", "B-PER"])
    features = datasets.Features({"tokens": feature(datasets.Value("string")), "ner_tags": feature(classes)})
    rows = {"tokens": [["Ann", "left"], ["Who"]], "ner_tags": [[1, 0], [0]]}
    found = called("tagger", datasets.Dataset.from_dict(rows, features=features), monkeypatch)
    assert found == expected("tagger")


def test_a_tagger_reads_texts_with_spans(tmp_path, monkeypatch):
    path = tmp_path / "doccano.jsonl"
    path.write_text('{"id": 1, "text": "Ann left", "label": [[0, 3, "PER"]]}\n{"text": "Who", "label": []}\n')
    assert typed("tagger", path, monkeypatch) == expected("tagger")
