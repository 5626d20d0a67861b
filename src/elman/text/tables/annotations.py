"""What annotation tools export, as plain records: Label Studio's tasks, and the choices that both tools list.

Label Studio (JSON): ``{"data": {"text": …}, "annotations": [{"result": [{"from_name": …, "value": …}]}]}``.
Its JSON-MIN and Doccano's JSON lines are plain records already; only ``{"choices": […]}`` is unpacked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_annotation(record: Any) -> bool:
    """Whether this is a task of Label Studio."""
    return isinstance(record, Mapping) and isinstance(record.get("data"), Mapping) and "annotations" in record


def flatten_annotation(record: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The data of a task, what was annotated by the name of the control, and its id; others as they are."""
    if record is None:
        return None
    if not is_annotation(record):
        return {name: _unpack(value) for name, value in record.items()}
    about = {name: value for name, value in record.items() if not isinstance(value, Mapping | list)}
    flat: dict[str, Any] = {**about, **record["data"]}
    done = [a for a in record["annotations"] or () if isinstance(a, Mapping) and not a.get("was_cancelled")]
    answers = [_read_results(annotation.get("result") or ()) for annotation in done]
    if answers and all(answer == answers[0] for answer in answers):
        flat |= answers[0]
    elif answers:  # annotators who disagree leave no answer: an empty cell, which is a bad row
        flat |= dict.fromkeys(answers[0], None)
    return flat


def _read_results(results: Any) -> dict[str, Any]:
    found: dict[str, list[Any]] = {}
    for result in results:
        value = result.get("value") if isinstance(result, Mapping) else None
        if not isinstance(value, Mapping):
            continue
        answers = found.setdefault(str(result.get("from_name")), [])
        if "choices" in value:
            answers.extend(value["choices"])
        elif "start" in value and "end" in value:
            answers.append(value)
        elif "text" in value:
            answers.extend(value["text"] if isinstance(value["text"], list) else [value["text"]])
        elif "rating" in value:
            answers.append(value["rating"])
    return found


def _unpack(value: Any) -> Any:
    return value["choices"] if isinstance(value, Mapping) and set(value) == {"choices"} else value
