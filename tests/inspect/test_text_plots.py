"""Pictures with tokens on their axes: whatever the tokens are, a PNG comes out."""

import struct
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from elman.errors import ModelError
from elman.inspect import text_plots
from elman.inspect.layer_gates import LayerGates
from elman.inspect.saliency import Saliency, visible_token
from elman.inspect.text_plots import plot_bars, plot_gates, plot_saliency
from tests.inspect.picture_style import check_style

to_hex = pytest.importorskip("matplotlib.colors").to_hex

STRANGE = ["$x_{", "$", "\\frac", "\n", " ", "\t", "", "_a^b", "%"]


def size(path):
    """Width and height that the header of a PNG says."""
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def layer(tokens, units, cells):
    draw = np.random.default_rng(0)
    shapes = {"f": units, "z": units, "h": units, "c": cells}
    values = {name: draw.uniform(0 if name == "f" else -1, 1, (tokens, n)) for name, n in shapes.items()}
    return LayerGates(1, "back", values, ("h", "c"), "h")


def test_tokens_that_mean_something_to_a_typesetter_are_drawn_as_they_are(tmp_path):
    path, shares = tmp_path / "p.png", np.linspace(-1, 1, len(STRANGE))
    plot_bars(STRANGE, shares, path, title="$a", label="nats")
    assert size(path)
    rows = [Saliency(token, "$B", "O_$", shares) for token in STRANGE]
    plot_saliency(STRANGE, rows, path)
    assert size(path)
    plot_saliency(STRANGE[:1], [Saliency("$", "$", "$", np.zeros(1))], path)
    assert size(path)
    plot_gates(STRANGE, layer(len(STRANGE), 50, 70), path)
    assert size(path)


def test_values_wider_than_the_output_show_their_own_units(monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(text_plots, "save_figure", lambda fig, path, dpi: figures.append(fig))
    seen = layer(9, 50, 70)
    seen.values["h"][:, :18] = seen.values["c"][:, 20:58] = 0.5  # these never change
    plot_gates(STRANGE, seen, tmp_path / "p.png")
    panels = {ax.get_title(): ax for ax in figures[0].axes}
    shown = {
        name: [int(tick.get_text()) for tick in panels[name].get_yticklabels()]
        for name in ("gate f", "state h", "state c")
    }
    assert shown["gate f"] == shown["state h"] == [*range(18, 50)]
    assert shown["state c"] == [*range(20), *range(58, 70)]
    assert panels["state c"].get_ylabel() == "unit of 70"
    assert figures[0].get_suptitle() == "Layer 1 back: the 32 of 50 units that vary most"


def test_a_long_text_makes_no_larger_a_picture_than_the_part_that_is_shown(tmp_path):
    sizes = []
    for count in (100, 3000):
        path = tmp_path / f"{count}.png"
        plot_bars(["word"] * count, np.ones(count), path, title="t", label="nats")
        sizes.append(size(path)[0])
    assert sizes[0] == sizes[1]


def test_signs_that_no_font_has_are_one_warning(tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plot_bars(["\U0002fa1d", "\U0002fa1c"], [1, 2], tmp_path / "p.png", title="t", label="y")
    assert len(caught) == 1
    assert "boxes stand for signs" in str(caught[0].message)


def test_blanks_and_ends_of_lines_can_be_seen():
    assert [visible_token(t) for t in (" ", "  ", "\n", "a b", "\t")] == ["␣", "␣␣", "⏎", "a b", "⇥"]


def test_without_matplotlib_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModelError, match=r'pip install "elman\[plot\]"'):
        plot_bars(["a"], [1.0], tmp_path / "p.png", title="t", label="y")


@pytest.mark.parametrize("panels", range(1, 8))
def test_panels_stand_side_by_side_with_at_most_one_place_empty(panels):
    columns = text_plots._columns(panels, width=5)
    assert -panels % columns <= 1
    fitting = [n for n in range(1, min(3, panels) + 1) if -panels % n <= 1]
    assert columns == max(fitting)


@pytest.mark.parametrize(("least", "colours"), [(0.0, "viridis"), (-0.5, "RdBu_r")])
def test_values_below_zero_are_shown_around_zero(least, colours, monkeypatch, tmp_path):
    figures = []
    monkeypatch.setattr(text_plots, "save_figure", lambda fig, path, dpi: figures.append(fig))
    values = {"h": np.linspace(least, 1, 6).reshape(3, 2)}
    plot_gates(["a", "b", "c"], LayerGates(1, "forward", values, ("h",), "h"), tmp_path / "a.png")
    assert figures[0].axes[0].images[0].get_cmap().name == colours


@pytest.fixture
def drawn(monkeypatch):
    """The figure of a picture that is drawn but not written."""

    def draw(plot, *given, **options):
        figures = []
        monkeypatch.setattr(text_plots, "save_figure", lambda fig, path, **settings: figures.append(fig))
        plot(*given, Path("a.png"), **options)
        check_style(figures[0])
        return figures[0]

    return draw


def ticks(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


def test_bars_stand_over_their_tokens_red_above_zero(drawn):
    fig = drawn(plot_bars, ["a", "\n", "b"], [1.0, -2.0, 0.0], title="T", label="nats", about="of a text")
    (ax,) = fig.axes
    assert [bar.get_height() for bar in ax.patches] == [1, -2, 0]
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx([0, 1, 2])
    assert [to_hex(bar.get_facecolor()) for bar in ax.patches] == [to_hex(c) for c in ("C3", "C0", "C0")]
    assert (ticks(ax.xaxis), [*ax.get_xticks()]) == (["a", "⏎", "b"], [0, 1, 2])
    assert ax.xaxis.get_ticklabels()[0].get_rotation() == 0, "short ones lie"
    assert ax.get_xlim() == pytest.approx((-0.7, 2.7))
    assert (ax.get_ylabel(), fig.get_suptitle()) == ("nats", "T\nof a text")
    (zero,) = ax.lines
    assert {*zero.get_ydata()} == {0}


def test_of_a_long_text_the_last_tokens_are_shown_and_it_is_said(drawn):
    tokens, values = [f"w{i}" for i in range(103)], np.arange(103)
    fig = drawn(plot_bars, tokens, values, title="T", label="nats")
    (ax,) = fig.axes
    assert ticks(ax.xaxis) == tokens[3:]
    assert ax.xaxis.get_ticklabels()[0].get_rotation() == 90
    assert [bar.get_height() for bar in ax.patches] == [*range(3, 103)]
    assert fig.get_suptitle() == "T (last 100 of 103 tokens)"
    exact = drawn(plot_bars, tokens[:100], values[:100], title="T", label="nats")
    assert exact.get_suptitle() == "T"


def test_several_answers_are_rows_of_a_map_from_blue_to_red(drawn):
    rows = [Saliency(f"answer {i}", "x", "y", np.array([0.5, -2.0, 1.0]) * (i + 1)) for i in range(2)]
    fig = drawn(plot_saliency, ["a", "b", "longer"], rows)
    ax, bar = fig.axes
    (image,) = ax.images
    assert image.get_array().tolist() == [[0.5, -2, 1], [1, -4, 2]]
    assert (image.get_clim(), image.get_cmap().name) == ((-4, 4), "RdBu_r")
    assert ticks(ax.yaxis) == [row.title for row in rows]
    assert ticks(ax.xaxis) == ["a", "b", "longer"]
    assert ax.xaxis.get_ticklabels()[0].get_rotation() == 90
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("token that is read", "answer")
    assert bar.get_ylabel() == text_plots.NATS
    assert fig.get_suptitle() == "Red speaks for an answer, blue against it"
    one = drawn(plot_saliency, ["a", "b", "longer"], rows[:1])
    assert [bar.get_height() for bar in one.axes[0].patches] == [0.5, -2, 1]
    assert one.get_suptitle() == rows[0].title


def test_pictures_grow_with_their_tokens_and_never_are_too_small(drawn):
    def width(plot, count):
        rows = {plot_bars: np.ones(count), plot_saliency: [Saliency("t", "", "", np.ones(count))] * 2}
        options = {"title": "t", "label": "y"} if plot is plot_bars else {}
        return drawn(plot, ["a"] * count, rows[plot], **options).get_size_inches()[0]

    for plot in (plot_bars, plot_saliency):
        assert width(plot, 1) == width(plot, 5) >= 5
        assert 0.2 < (width(plot, 40) - width(plot, 30)) / 10 < 0.3  # inches a token


def test_gates_have_a_panel_each_with_tokens_along_and_units_down(drawn):
    values = {"f": np.full((3, 2), 0.25), "h": np.array([[0.0, 1.0], [0.5, -1.0], [0.25, 0.0]])}
    fig = drawn(plot_gates, ["a", "b", "c"], LayerGates(2, "backward", values, ("h",), "h"))
    f, h = (ax for ax in fig.axes if ax.get_label() != "<colorbar>")
    assert h.images[0].get_array().tolist() == values["h"].T.tolist()
    assert (h.images[0].get_clim(), f.images[0].get_clim()) == ((-1, 1), (0, 1))
    assert ticks(h.xaxis) == ["a", "b", "c"]
    assert ticks(h.yaxis) == ["0", "1"]
    assert (f.get_ylabel(), h.get_ylabel()) == ("unit", "unit")
    assert fig.get_suptitle() == "Layer 2 backward, read from the end: all units"
