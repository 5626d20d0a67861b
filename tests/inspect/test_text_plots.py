"""Pictures with tokens on their axes: whatever the tokens are, a PNG comes out."""

import struct
import sys
import warnings

import numpy as np
import pytest

from elman.errors import ModelError
from elman.inspect import text_plots
from elman.inspect.layer_gates import LayerGates
from elman.inspect.saliency import Saliency, visible_token
from elman.inspect.text_plots import plot_bars, plot_gates, plot_saliency

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
