"""Exports of Label Studio and Doccano."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elman.errors import DataError
from elman.text.tables import read_rows
from elman.text.tables.annotations import flatten_annotation


def task(text: str, *answers: str, cancelled: bool = False) -> dict[str, Any]:
    """A task of Label Studio, with a choice by each annotator."""
    results = [
        {"from_name": "sentiment", "to_name": "text", "type": "choices", "value": {"choices": [answer]}}
        for answer in answers
    ]
    done = [{"id": 7, "was_cancelled": cancelled, "result": [result]} for result in results]
    return {"id": 1, "data": {"text": text}, "annotations": done, "predictions": []}


def test_a_label_studio_export_is_its_texts_and_choices(tmp_path: Path):
    path = tmp_path / "project.json"
    path.write_text(json.dumps([task("a", "Positive"), task("b", "Negative", "Negative")]))
    assert [row for _, row in read_rows(path)] == [("a", "Positive"), ("b", "Negative")]


def test_tasks_without_one_answer_are_bad_rows(tmp_path: Path):
    tasks = [
        task("a", "Positive"),
        task("b"),
        task("c", "Positive", "Negative"),
        task("d", "No", cancelled=True),
    ]
    path = tmp_path / "project.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(DataError, match="3 bad rows of 4"):
        list(read_rows(path))
    assert [row for _, row in read_rows(path, skip_bad=True)] == [("a", "Positive")]


def test_label_studios_json_min_is_plain_records(tmp_path: Path):
    path = tmp_path / "min.json"
    more = {"id": 1, "annotator": 1, "annotation_id": 1, "lead_time": 2.5}
    path.write_text(json.dumps([{"text": "a", "sentiment": {"choices": ["x"]}, **more}]))
    assert [row for _, row in read_rows(path)] == [("a", "x")]


def test_doccanos_single_label_is_a_list_of_one(tmp_path: Path):
    path = tmp_path / "all.jsonl"
    path.write_text(
        '{"id": 1, "text": "a", "label": ["x"], "Comments": []}\n{"id": 2, "text": "b", "label": []}\n'
    )
    assert [row for _, row in read_rows(path, skip_bad=True)] == [("a", "x")]
    path.write_text('{"id": 1, "text": "a", "label": ["x", "y"]}\n')
    with pytest.raises(DataError, match="'label' is a list of 2; several labels a text need --multi"):
        list(read_rows(path))


def result(name: str, **value: Any) -> dict[str, Any]:
    return {"from_name": name, "value": value}


def test_each_control_of_a_task_is_a_column_of_what_was_annotated_with_it():
    span = {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]}
    results = [
        result("names", **span),
        {"from_name": "names", "to_name": "text"},  # a relation has no value
        "nothing",
        result("names", start=4),  # no span without its end
        result("names", end=4),
        result("topic", choices=["a"]),
        result("topic", choices=["b", "c"]),
        result("remark", text=["one", "two"]),
        result("remark", text="three"),
        result("stars", rating=4),
    ]
    record = {"id": 1, "file": "f", "data": {"text": "Ann sat"}, "annotations": [{"result": results}]}
    assert flatten_annotation(record) == {
        "id": 1,
        "file": "f",
        "text": "Ann sat",
        "names": [span],
        "topic": ["a", "b", "c"],
        "remark": ["one", "two", "three"],
        "stars": [4],
    }


def test_annotators_who_disagree_in_one_control_leave_none_of_them():
    two = [{"result": [result("a", rating=1), result("b", rating=n)]} for n in (2, 3)]
    assert flatten_annotation({"data": {}, "annotations": two}) == {"a": None, "b": None}
    same = [two[0], two[0], {"result": None, "was_cancelled": True}, "nobody"]
    assert flatten_annotation({"data": {}, "annotations": same}) == {"a": [1], "b": [2]}
    assert flatten_annotation({"data": {"text": "a"}, "annotations": None}) == {
        "annotations": None,
        "text": "a",
    }
    assert flatten_annotation({"data": {"text": "a"}, "annotations": [{"result": None}]}) == {"text": "a"}


def test_records_that_are_no_tasks_stay_as_they_are():
    assert flatten_annotation(None) is None
    for record in ({"data": {"text": "a"}}, {"data": "x", "annotations": []}, {"a": {"choices": [1], "b": 2}}):
        assert flatten_annotation(record) == record
