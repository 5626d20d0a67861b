"""Exports of Label Studio and Doccano."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from elman.errors import DataError
from elman.text.tables import read_rows


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
