"""Pictures in every format: the ending decides, text stays text, the same picture is the same file."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from elman.errors import ConfigError
from elman.inspect import exposure_curves, plots, reliability_diagram
from elman.inspect.alignment import plot_alignment
from elman.inspect.exposure_curves import Exposure, PositionCurves, plot_exposure_curves
from elman.inspect.history import TrainingHistory
from elman.inspect.plots import describe_subject, plot_gradients, plot_history
from elman.inspect.reliability_diagram import plot_reliability
from elman.inspect.text_plots import plot_bars
from elman.tasks.results import Confidences
from tests.inspect.picture_style import check_style

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


def draw_history(path: Path) -> None:
    history = TrainingHistory(np.arange(200), np.linspace(2, 1, 200), 1, [])
    plot_history(history, "accuracy", path)


def draw_exposure(path: Path) -> None:
    run = PositionCurves(*(np.ones(3) for _ in range(3)))
    plot_exposure_curves(Exposure(run, run, np.ones(2), np.ones(2), 4), path)


def draw_reliability(path: Path) -> None:
    plot_reliability(Confidences([0.9, 0.8, 0.3], [True, False, False]), path)


def captured_axes(draw, monkeypatch):
    """The axes of a figure that is drawn but not written."""
    figures = []
    for module in (plots, exposure_curves, reliability_diagram):
        monkeypatch.setattr(module, "save_figure", lambda fig, path: figures.append(fig))
    draw(Path("a.png"))
    check_style(figures[0])
    return figures[0].axes


@pytest.mark.parametrize("draw", [draw_gradients, draw_history, draw_exposure])
def test_every_axis_has_a_title_and_says_what_it_measures(draw, monkeypatch):
    for ax in captured_axes(draw, monkeypatch):
        assert ax.get_title()
        assert ax.get_xlabel()
        assert ax.get_ylabel()


def test_whoever_is_as_sure_as_right_is_on_the_diagonal(monkeypatch):
    shares, counts = captured_axes(draw_reliability, monkeypatch)
    (diagonal,) = shares.lines
    np.testing.assert_array_equal(*diagonal.get_data())
    assert shares.get_xlim() == shares.get_ylim() == (0, 1)
    assert (shares.get_ylabel(), counts.get_xlabel()) == ("share of right answers", "confidence")
    assert (counts.get_xlim(), counts.get_ylabel(), counts.get_yscale()) == ((0, 1), "answers", "log")


def test_costs_and_rights_are_drawn_where_enough_sequences_are_so_long(monkeypatch):
    forced = PositionCurves(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 1.0]), np.array([9.0, 5.0, 4.0]))
    free = PositionCurves(np.array([4.0]), np.array([0.75]), np.array([2.0]))  # few, but there are no more
    found = Exposure(forced, free, np.array([0.5, 1.5]), np.ones(2), 9)
    axes = captured_axes(lambda path: plot_exposure_curves(found, path), monkeypatch)
    drawn = [{line.get_label(): [*map(list, line.get_data())] for line in ax.lines} for ax in axes]
    assert drawn == [
        {"teacher forcing": [[1, 2], [1, 2]], "free running": [[1], [4]]},
        {"teacher forcing": [[1, 2], [50, 25]], "free running": [[1], [75]]},
        {"accumulated": [[1, 2], [0.5, 2]]},
    ]
    assert [bar.get_height() for bar in axes[2].patches] == [0.5, 1.5]
    assert {text.get_text() for text in axes[2].get_legend().get_texts()} == {"each step", "accumulated"}


def test_another_warning_than_of_the_font_stays_what_it_is(monkeypatch, tmp_path):
    def warn(*given, **options):
        warnings.warn("something else", RuntimeWarning, stacklevel=1)

    monkeypatch.setattr(plots, "write_figure", warn)
    with pytest.warns(RuntimeWarning, match="^something else$") as caught:
        draw_bars(tmp_path / "a.png")
    assert len(caught) == 1


def test_a_heading_names_the_model_and_the_beginning_of_the_text(tmp_path):
    assert describe_subject("model", "a  text\tof words") == "model · “a text of words”"
    assert describe_subject("model", "x" * 100) == f"model · “{'x' * 69}…”"
    assert describe_subject("model") == "model"
    path = tmp_path / "a.svg"
    plot_bars(["ein"], [1.0], path, title="Title", label="y", about=describe_subject("models", "$1 or $2"))
    assert "models · “$1 or $2”" in path.read_text("utf-8")
