"""The parts of a tagger, for whoever runs it elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elman.layers.crf import Constraints
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from elman.tasks.tagger.heads import CRFHead, Head
from elman.tasks.tagger.tagset import Tagset
from elman.tasks.word_blueprint import list_word_parts

if TYPE_CHECKING:
    from elman.tasks.tagger.task import Tagger


def list_tagger_parts(task: Tagger) -> dict[str, Any]:
    """Read words, recur, a head for each column."""
    heads = zip(task.tagsets, task.heads, strict=True)
    return {
        "kind": "tagger",
        "separator": " ",
        "words": list_word_parts(task.featurizer, task.net.words),
        "layers": task.net.encode,
        "labels": list(task.tagsets[0].labels.items),
        "heads": [_list_head_parts(tagset, head) for tagset, head in heads],
    }


def _list_head_parts(tagset: Tagset, head: Head) -> dict[str, Any]:
    schemes = {"column": tagset.column, "written": tagset.written, "trained": tagset.trained}
    common = {**schemes, "labels": list(tagset.labels.items), "temperature": head.calibration.temperature}
    common["emit"] = head.emit  # type: ignore[attr-defined]
    allowed = _list_allowed(tagset.constraints())
    if isinstance(head, CRFHead):
        crf = {name: getattr(head.crf, name) for name in ("transitions", "begin", "end")}
        return {"kind": "crf", **common, "crf": {**crf, "allowed": allowed}}
    if isinstance(head, AutoregressiveHead):
        fed_back = {"cell": head.read.cell, "embed": head.T.weight, "beam": head.beam, "allowed": allowed}
        return {"kind": "autoregressive", **common, **fed_back}
    return {"kind": "softmax", **common}


def _list_allowed(allowed: Constraints | None) -> dict[str, Any] | None:
    if allowed is None:
        return None
    return {name: getattr(allowed, name).int().tolist() for name in ("begin", "step", "end")}
