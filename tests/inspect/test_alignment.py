"""Alignments as text and as pictures: the right words, whatever they are made of."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from elman.errors import ModelError
from elman.inspect import alignment
from elman.inspect.alignment import MOST, plot_alignment, show_alignment
from tests.inspect.picture_style import check_style

WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.25, 0.25, 0.5]])
SOURCE, TARGET = ["the", "dog", "runs"], ["der", "läuft"]
ODD = ["$x^{$", "我们", "\n\x00", "\udc80", "שלום", "", "a" * 1000]


@pytest.fixture
def axes(monkeypatch):
    """The axes that are drawn on, kept to be read."""
    pytest.importorskip("matplotlib")
    kept = []

    def figure(*args, **options):
        fig, axes = make(*args, **options)
        kept.extend(axes)
        return fig, axes

    make = alignment.new_figure
    monkeypatch.setattr(alignment, "new_figure", figure)
    return kept


def words(axis) -> list[str]:
    return [label.get_text() for label in axis.get_ticklabels()]


def test_each_target_word_is_shown_with_the_source_word_it_attends_to_most():
    assert show_alignment(WEIGHTS, SOURCE, TARGET).splitlines() == [
        "der    ← the   0.90",
        "läuft  ← runs  0.50",
    ]


def test_columns_of_wide_characters_are_straight():
    first, second = show_alignment(WEIGHTS, SOURCE, ["我们", "da"]).splitlines()
    assert first.index("←") + 2 == second.index("←")  # each of the two takes two places


def test_a_word_has_at_most_24_characters():
    source = ["a" * 24, "b" * 25]
    lines = show_alignment(np.eye(2), source, ["x", "y"]).splitlines()
    assert lines == [f"x  ← {'a' * 24}  1.00", f"y  ← {'b' * 23}…  1.00"]


def test_every_word_is_shown_on_one_line():
    lines = show_alignment(np.eye(len(ODD)), ODD, ODD).splitlines()
    assert len(lines) == len(ODD)
    assert all(len(line) < 80 for line in lines)
    "\n".join(lines).encode()


def test_the_picture_has_the_words_and_the_names_of_its_axes(axes, tmp_path):
    plot_alignment(WEIGHTS, SOURCE, TARGET, tmp_path / "a.png")
    (ax,) = axes
    assert words(ax.xaxis) == SOURCE
    assert words(ax.yaxis) == TARGET
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("source", "target")
    assert ax.images[0].colorbar.ax.get_ylabel() == "attention"
    np.testing.assert_array_equal(ax.images[0].get_array(), WEIGHTS)
    assert (ax.images[0].get_clim(), ax.images[0].get_cmap().name) == ((0, 1), "Blues")
    check_style(ax.figure)
    width, height = ax.figure.get_size_inches()
    assert 3 < width < 4.5
    assert 2 < height < 3.5


@pytest.mark.parametrize(("count", "across"), [(3, 3), (60, 60), (5, 40)])
def test_no_two_words_overlap(axes, tmp_path, count, across):
    source, target = ([f"characteristic{i}" for i in range(n)] for n in (across, count))
    plot_alignment(np.ones((count, across)) / across, source, target, tmp_path / "a.png")
    (ax,) = axes
    dpi = ax.figure.dpi
    per_word = [size / dpi for size in ax.get_window_extent().size / (across, count)]
    height = ax.xaxis.get_ticklabels()[0].get_fontsize() / 72  # inches
    assert per_word[0] > 1.4 * height  # slanted by 45°
    assert per_word[1] > height


def test_the_picture_of_a_long_text_is_bounded_and_its_words_are_thinned(axes, tmp_path):
    source = [str(i) for i in range(1000)]
    plot_alignment(np.full((2, 1000), 1e-3), source, TARGET, tmp_path / "a.png")
    (ax,) = axes
    shown = [int(word) for word in words(ax.xaxis)]
    assert len(shown) <= MOST
    assert shown == list(ax.get_xticks())
    assert max(ax.figure.get_size_inches()) < 40


def test_no_word_is_too_odd_to_be_drawn(axes, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_alignment(np.eye(len(ODD)), ODD, ODD, tmp_path / "a.png")
    assert words(axes[0].xaxis)[:4] == ["$x^{$", "我们", r"\n\x00", r"\udc80"]


def test_the_picture_needs_no_display(tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "picture.PNG"
    draw = (
        "import pathlib, numpy as np; from elman.inspect.alignment import plot_alignment; "
        f"plot_alignment(np.eye(2), ['a', 'b'], ['c', 'd'], pathlib.Path({str(path)!r}))"
    )
    subprocess.run([sys.executable, "-c", draw], check=True)
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModelError, match=r'pip install "elman\[plot\]"'):
        plot_alignment(WEIGHTS, SOURCE, TARGET, tmp_path / "a.png")


@pytest.mark.parametrize("look", [show_alignment, lambda *a: plot_alignment(*a, path=Path("a.png"))])
def test_words_that_do_not_fit_the_weights_are_refused(look):
    with pytest.raises(ModelError, match="weights of 2 × 3 do not fit 3 target and 2 source words"):
        look(WEIGHTS, TARGET, SOURCE)
    with pytest.raises(ModelError, match="a word on either side"):
        look(WEIGHTS[:, :0], [], TARGET)
