"""Pictures in every format: the ending decides, text stays text, the same picture is the same file."""

from pathlib import Path

import numpy as np
import pytest

from elman.errors import ConfigError
from elman.inspect.alignment import plot_alignment
from elman.inspect.plots import plot_gradients
from elman.inspect.text_plots import plot_bars

pytest.importorskip("matplotlib")
BEGINS = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-"}


def draw_gradients(path: Path) -> None:
    plot_gradients({"elman": np.array([1.0, 2.0])}, {"gru": np.array([1.0, 0.5])}, path)


def draw_alignment(path: Path) -> None:
    plot_alignment(np.eye(2), ["der", "Hund"], ["the", "dog"], path)


def draw_bars(path: Path) -> None:
    plot_bars(["ein", "Satz"], [1.0, -1.0], path, title="Wörter", label="y")


@pytest.mark.parametrize("draw", [draw_gradients, draw_alignment, draw_bars])
@pytest.mark.parametrize("format", BEGINS)
def test_the_ending_decides_and_the_same_picture_is_the_same_file(draw, format, tmp_path):
    one, other = tmp_path / f"a.{format}", tmp_path / f"b.{format.upper()}"
    draw(one)
    draw(other)
    assert one.read_bytes().startswith(BEGINS[format])
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (draw_gradients, ["elman", "steps back from the loss"]),
        (draw_alignment, ["der", "Hund", "the", "dog"]),
        (draw_bars, ["ein", "Satz", "Wörter"]),
    ],
)
def test_text_stays_text_in_svg(draw, words, tmp_path):
    draw(tmp_path / "a.svg")
    written = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for word in words:
        assert f">{word}</text>" in written


@pytest.mark.parametrize("name", ["a.gif", "a"])
def test_another_ending_is_refused_and_nothing_is_written(name, tmp_path):
    with pytest.raises(ConfigError, match=r"a picture ends in \.png, \.svg or \.pdf"):
        draw_bars(tmp_path / name)
    assert not [*tmp_path.iterdir()]
