"""What inspect prints of numbers: positions together, horizons, strongest tokens, weights by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from elman.cli.inspect import _join_reasons, _plan_pictures
from elman.cli.inspect_exposure import _spans, exposure_json, show_exposure
from elman.cli.inspect_memory import memory_json, show_memory
from elman.cli.inspect_model import show_model
from elman.errors import ConfigError
from elman.inspect.exposure_curves import Exposure, PositionCurves
from elman.inspect.memory_horizon import LayerMemory


def rows(capsys):
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 12, 13, 14, 27, 28, 29, 48, 49, 100])
def test_every_position_is_in_one_span_and_later_spans_are_longer(length):
    spans = _spans(length)
    assert [p for first, last in spans for p in range(first, last)] == [*range(length)]
    whole = [last - first for first, last in spans[:-1]]
    assert whole == ([1] * 8 + [5] * 4 + [20] * 9)[: len(whole)]
    assert all(last > first for first, last in spans)


def test_positions_together_are_weighed_by_how_many_sequences_reach_them(capsys):
    counts = np.array([4.0] * 8 + [3.0, 1.0])
    nats, right = np.array([0.5] * 8 + [1.0, 3.0]), np.array([0.5] * 8 + [1.0, 0.0])
    forced = PositionCurves(nats, right, counts)
    free = PositionCurves(nats[:8], right[:8], counts[:8])
    found = Exposure(forced, free, np.array([0.25, -0.125]), np.array([4.0, 4.0]), 1234)
    show_exposure(found)
    said = rows(capsys)
    assert said[0] == "exposure bias: 0.062 nats a token (1,234 sequences)"
    assert said[1] == "position forced: nats right % free: nats right %"
    assert said[2] == "1 0.50 50.0 0.50 50.0"
    assert said[10] == "9-10 1.50 75.0"
    assert said[11:] == ["own tokens nats more accumulated", "1 0.250 0.250", "2 -0.125 0.125"]
    told = exposure_json(found)
    assert told["accumulated"] == [0.25, 0.125]
    assert told["forced"]["counts"] == counts.tolist()
    assert told["free"]["nats"] == [0.5] * 8
    assert (told["sequences"], told["bias"], told["excess"]) == (1234, 0.0625, [0.25, -0.125])


def test_the_memory_of_a_layer_names_the_units_that_remember_longest(capsys):
    influence = np.zeros((5, 4))
    horizons = [1, 3, 0, 3, 2]
    for unit, horizon in enumerate(horizons):
        influence[unit, : horizon + 1] = unit + 1
    memory = LayerMemory("layer 1 forward", [10, 20, 30, 40, 50], influence)
    show_memory([memory])
    assert rows(capsys)[2:] == [
        "layer units median 90 % whole text longest",
        "layer 1 forward 5 2 3 2 20 (3), 40 (3), 50 (2)",
    ]
    (told,) = memory_json([memory])
    assert told == {
        "layer": "layer 1 forward",
        "units": [10, 20, 30, 40, 50],
        "horizons": horizons,
        "mean_gradient": [1.0, 0.8, 0.6, 0.4],
    }


def test_a_model_is_told_with_weights_that_are_fixed_and_scores_that_are_missing(capsys):
    layer = {"name": "embed", "kind": "Embedding", "weights": {"W": [7, 2000]}, "fixed": {"old": [3]}}
    training = {
        "data": ("a.en", "a.de"),
        "settings": {"lr": 0.5, "decay": 0.0},
        "updates": 1234,
        "why": "patience",
    }
    best = {"best": {"update": 1000, "epoch": 3}, "evaluations": [1, 2]}
    found = {
        "task": "seq2seq",
        "about": ["A model", "of two languages"],
        "layers": [layer | {"parameters": 14000}],
        "parameters": 14000,
        "formulas": {"encoder": ["h' = h", "y = h'"]},
        "training": training | best,
        "scores": {"valid": {"bleu": 31.234}, "test": {}},
    }
    show_model(found)
    assert rows(capsys) == [
        *("A model (seq2seq)", "of two languages", ""),
        "layer kind weights parameters",
        "embed Embedding W 7×2000, old 3 (fixed) 14,000",
        "all 14,000",
        *("", "encoder", "h' = h", "y = h'", ""),
        "trained on a.en a.de: updates 1,234, why patience",
        "best after update 1,000, in epoch 3",
        "settings: lr 0.5",
        *("valid: bleu 31.23", "test: not evaluated"),
    ]
    show_model(found | {"training": {"data": "a.txt", "settings": {}, "best": None}})
    assert rows(capsys)[11:13] == ["trained on a.txt:", "valid: bleu 31.23"]


def test_a_format_without_a_folder_is_refused(tmp_path):
    assert _plan_pictures(None, None) is None
    with pytest.raises(ConfigError, match=r"^--format is that of plots, but --out is missing: which folder\?$"):
        _plan_pictures(None, "svg")
    pytest.importorskip("matplotlib")
    assert _plan_pictures(tmp_path, None).path("a") == tmp_path / "a.png"
    assert _plan_pictures(tmp_path, "pdf").path("a") == tmp_path / "a.pdf"


def test_a_reason_that_the_structure_says_is_not_said_again():
    choice = SimpleNamespace(
        reasons={"cudnn": "no GPU", "parallel": "dense", "cpu": "x"}, structure="dense: h U"
    )
    assert _join_reasons(choice) == "cudnn: no GPU; cpu: x"
