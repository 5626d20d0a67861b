"""What pictures of cells, searches, curves and memory show: the numbers behind their dots and lines."""

from pathlib import Path

import numpy as np
import pytest

from elman.inspect import comparison_plots, curve_plots, memory_plot, plots, tuning_plots
from elman.inspect.comparison import ComparisonResult
from elman.inspect.comparison_plots import plot_cell_table, plot_comparison, plot_text_comparison
from elman.inspect.curve_plots import plot_learning_curve
from elman.inspect.history import EvaluationRecord, TrainingHistory
from elman.inspect.length_comparison import LengthResult
from elman.inspect.memory_horizon import LayerMemory
from elman.inspect.memory_plot import plot_memory
from elman.inspect.plots import plot_history
from elman.inspect.text_comparison import TextResult
from elman.inspect.tuning_plots import SearchedRange, TunedTrial, plot_tuning
from tests.inspect.picture_style import check_style

pytest.importorskip("matplotlib")
FILE = Path("a.png")


@pytest.fixture
def axes_of(monkeypatch):
    """The axes of a figure that is drawn but not written."""

    def draw(plot, *arguments, **options):
        figures = []
        for module in (comparison_plots, curve_plots, memory_plot, plots, tuning_plots):
            monkeypatch.setattr(module, "save_figure", lambda fig, path: figures.append(fig))
        plot(*arguments, **options)
        check_style(figures[0])
        return figures[0].axes

    return draw


def points(line):
    return [[float(v) for v in values] for values in line.get_data()]


def lines(ax):
    return {line.get_label(): points(line) for line in ax.lines}


def on_text(cell, bits, curve, seed=0):
    return TextResult(cell, 32, 5000, bits, 10, 1.0, seed, curve)


def test_texts_show_the_mean_of_the_seeds_their_range_and_a_dot_each(axes_of):
    results = {
        "lstm": [
            on_text("lstm", 2.0, [(0, 9.0), (10, 3.0), (20, 2.0)]),
            on_text("lstm", 4.0, [(0, 9.0), (12, 5.0)]),
        ],
        "gru": [on_text("gru", 3.5, [(0, 8.0), (10, 3.5)])],
    }
    curves, ends = axes_of(plot_text_comparison, results, FILE, text="book")
    assert lines(curves) == {"lstm": [[0, 11], [9, 4]], "gru": [[0, 10], [8, 3.5]]}
    (band,) = curves.collections  # of the cell that has several seeds
    edges = band.get_paths()[0].vertices
    assert {(x, y) for x, y in edges.tolist()} == {(0, 9), (11, 3), (11, 5)}
    assert curves.get_title() == "Held-out end of book\n(mean of 2 seeds, and their range)"
    assert curves.get_ylim() == pytest.approx((1.9, 5.2))
    assert not curves.title.get_parse_math()
    assert [points(line) for line in ends.lines] == [
        *([[2, 4], [0, 0]], [[3], [0]]),
        *([[3.5], [1]], [[3.5], [1]]),
    ]
    assert [text.get_text() for text in ends.texts] == ["3.000", "3.500"]
    assert [tick.get_text() for tick in ends.get_yticklabels()] == ["lstm\n32 units", "gru\n32 units"]
    assert ends.get_ylim() == (1.5, -0.6)  # the first at the top


def test_one_seed_has_no_range_and_an_untrained_curve_keeps_its_place(axes_of):
    curves, _ = axes_of(plot_text_comparison, {"gru": [on_text("gru", 3.5, [(0, 8.0)])]}, FILE, text="book")
    assert not curves.collections
    assert curves.get_title() == "Held-out end of book"
    assert curves.get_ylim()[0] < 8 < curves.get_ylim()[1]


def test_a_table_of_cells_has_the_best_on_top_and_rings_for_longer_sequences(axes_of):
    texts = {"book": {n: [on_text(n, b, []), on_text(n, b + 1, [])] for n, b in (("lstm", 3.0), ("gru", 2.0))}}

    def length(cell, parity, copying):
        right = {"parity": {8: parity, 32: 50.0}, "copying": {8: copying, 32: 12.5}}
        return LengthResult(cell, {}, right, {}, 1.0, 0)

    lengths = {
        "lstm": [length("lstm", 100.0, 90.0)],
        "gru": [length("gru", 99.0, 80.0), length("gru", 98.0, 81.0)],
    }
    book, parity, copying = axes_of(plot_cell_table, texts, lengths, FILE)
    assert [points(line) for line in book.lines] == [[[2, 3], [0, 0]], [[3, 4], [1, 1]]]
    assert [tick.get_text() for tick in book.get_yticklabels()] == ["gru", "lstm"]
    assert [tick.get_text() for tick in parity.get_yticklabels()] == ["", ""]
    assert lines(parity) == {"8 symbols": [[99, 98, 100], [0, 0, 1]], "32 symbols": [[50, 50, 50], [0, 0, 1]]}
    assert lines(copying)["8 symbols"] == [[80, 81, 90], [0, 0, 1]]
    assert [line.get_markerfacecolor() for line in parity.lines] == ["C1", "none"]
    assert [ax.get_title() for ax in (book, parity, copying)] == ["Held-out end of book", "Parity", "Copying"]
    assert book.get_ylim() == (1.5, -0.5)
    assert parity.get_xlim() == copying.get_xlim() == (-3, 103)
    assert not book.title.get_parse_math(), "a dollar sign in the name of a text is no formula"


def compared(cell, memory, norms):
    return ComparisonResult(cell, 32, 5000, 0.0, 0.0, 1.0, np.array(norms), 0, memory)


def test_the_memory_of_cells_is_drawn_where_several_lengths_were_tested(axes_of):
    start = {"relu": np.array([1.0, 2.0])}
    some = {
        "lstm": [
            compared("lstm", {5: 90.0, 50: 40.0}, [0.25, 4.0]),
            compared("lstm", {5: 80.0, 50: 20.0}, [4.0, 1.0]),
        ]
    }
    before, after, memory = axes_of(plot_comparison, start, some, FILE)
    assert lines(before) == {"relu": [[1, 0], [1, 2]]}  # the last is nearest to the loss
    assert lines(after)["lstm"] == [[1, 0], pytest.approx([1, 2])]  # the geometric mean
    assert lines(memory)["lstm"] == [[5, 50], [85, 30]]
    assert lines(memory)["chance"][1] == [12.5, 12.5]
    assert memory.get_title() == (
        "Memory, trained on noise of up to 50 symbols\n(mean of 2 seeds, and their range)"
    )
    assert memory.lines[0].get_color() == after.lines[0].get_color() != before.lines[0].get_color()
    one = {"lstm": [compared("lstm", {50: 40.0}, [0.0, 1.0])]}
    assert len(axes_of(plot_comparison, start, one, FILE)) == 2


def test_a_learning_curve_is_dots_their_mean_and_what_twice_the_data_would_give(axes_of):
    arguments = [10, 20], [(1.0, 3.0), (4.0,)], FILE
    (ax,) = axes_of(plot_learning_curve, *arguments, labels=("texts", "accuracy"), forecast=6.0)
    assert [points(line) for line in ax.lines] == [
        *([[10, 20], [2, 4]], [[10, 10], [1, 3]]),
        *([[20], [4]], [[20, 40], [4, 6]]),
    ]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["10", "20", "40"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("training texts", "accuracy", "log")
    (bare,) = axes_of(plot_learning_curve, *arguments, labels=("texts", "accuracy"))
    assert len(bare.lines) == 3
    assert bare.get_legend() is None


def test_the_memory_of_units_is_in_the_order_of_their_horizons(axes_of):
    influence = np.array([[1.0, 1.0, 1.0, 0.0], [2.0, 0.0, 0.0, 0.0], [4.0, 2.0, 0.0001, 0.0]])
    forward = LayerMemory("layer 1 forward", [0, 1, 2], influence)
    backward = LayerMemory("decoder layer 1 backward", [0, 1, 2], influence, "backward")
    axes = axes_of(plot_memory, [forward, backward, forward], FILE)
    shown = [ax for ax in axes if ax.images]
    assert len(shown) == 3
    (image,) = shown[0].images
    expected = np.log10([[1, 1e-3, 1e-3, 1e-3], [1, 0.5, 1e-3, 1e-3], [1, 1, 1, 1e-3]])
    np.testing.assert_allclose(image.get_array(), expected)
    assert image.get_clim() == (-3, 0)
    (line,) = shown[0].lines
    assert points(line) == [[0, 1, 2, 2], [-0.5, 0.5, 1.5, 2.5]]
    assert shown[0].get_title() == "Layer 1 forward: median 1, longest 2"
    assert [ax.get_xlabel() for ax in shown] == ["tokens back", "tokens ahead", "tokens back"]
    assert shown[0].get_xlim() == (-0.5, 10.5)
    long = LayerMemory("a", [0], np.array([[1.0] * 40 + [0.0] * 60]))
    (ax, *_) = axes_of(plot_memory, [long], FILE)
    assert ax.get_xlim() == (-0.5, 1.25 * 39 + 5.5)
    assert sum(not ax.axison for ax in axes) == 1  # the place that is left over


TRIALS = [
    TunedTrial({"lr": 0.01, "cell": "lstm", "crf": True}, 50.0, "plain"),
    TunedTrial({"lr": 0.1, "cell": "gru", "crf": True}, 60.0, "best"),
    TunedTrial({"lr": 0.001, "cell": "", "crf": False}, 40.0),
    TunedTrial({"cell": "gru", "crf": False}, 45.0),
]
RANGES = {"lr": SearchedRange(0.001, 0.1, True)}


def scattered(ax):
    return {c.get_label(): c.get_offsets().tolist() for c in ax.collections}


def test_a_search_shows_what_mattered_and_the_scores_by_each_setting(axes_of):
    importance = {"lr": 0.7, "cell": 0.2}
    bars, lr, cell, *rest = axes_of(
        plot_tuning, TRIALS, importance, FILE, label="valid accuracy", ranges=RANGES
    )
    assert [bar.get_width() for bar in bars.patches] == [0.2, 0.7]
    assert [tick.get_text() for tick in bars.get_yticklabels()] == ["cell", "lr"]
    assert not rest
    assert scattered(lr) == {"trials": [[0.001, 40]], "plain settings": [[0.01, 50]], "best": [[0.1, 60]]}
    assert (lr.get_xscale(), lr.get_title(), lr.get_ylabel()) == ("log", "lr", "valid accuracy")
    assert lr.get_xlim() == pytest.approx((0.001 / 100**0.05, 0.1 * 100**0.05))
    assert [tick.get_text() for tick in lr.get_xticklabels()] == ["0.001", "0.0032", "0.01", "0.032", "0.1"]
    assert [tick.get_text() for tick in cell.get_xticklabels()] == ["none", "gru", "lstm"]
    assert scattered(cell)["plain settings"] == [[2 - 0.16, 50]]
    assert scattered(cell)["best"] == [[1 - 0.08, 60]]
    assert scattered(cell)["trials"] == [[0, 40], [1 + 0.08, 45]]
    assert cell.get_xlim() == (-0.5, 2.5)


def test_without_importances_the_settings_come_first_in_which_the_best_differs(axes_of):
    ranges = {"lr": SearchedRange(0.0, 0.2, False)}
    drawn = axes_of(plot_tuning, TRIALS, {}, FILE, label="score", ranges=ranges)
    assert [ax.get_title() for ax in drawn] == ["lr", "cell", "crf"]
    assert (drawn[0].get_xscale(), drawn[0].get_xlim()) == ("linear", pytest.approx((-0.01, 0.21)))
    assert [tick.get_text() for tick in drawn[2].get_xticklabels()] == ["false", "true"]
    many = [
        TunedTrial({f"s{i}": i + j for i in range(9)}, 1.0, role) for j, role in enumerate(("plain", "best"))
    ]
    drawn = axes_of(plot_tuning, many, {f"s{i}": 1 / (i + 1) for i in range(9)}, FILE, label="score", ranges={})
    assert [ax.get_title() for ax in drawn if ax.axison] == ["What mattered", "s0", "s1", "s2", "s3", "s4"]


def history(losses, evaluations=()):
    return TrainingHistory(np.arange(1, len(losses) + 1), np.array(losses), 1, [*evaluations])


def test_the_history_shows_each_loss_their_running_mean_and_the_best_evaluation(axes_of):
    losses = [float("nan"), *np.linspace(3, 1, 100)]
    some = [EvaluationRecord(50, 2, {"accuracy": 80.0}, True), EvaluationRecord(100, 3, {"other": 1.0}, False)]
    loss, score = axes_of(plot_history, history(losses, some), "accuracy", FILE, unit="%", lost="risk")
    drawn = lines(loss)
    assert drawn["each update"] == [[*range(2, 102)], pytest.approx(losses[1:])]
    assert drawn["mean of the last 2"][1][-1] == pytest.approx((losses[-1] + losses[-2]) / 2)
    assert (loss.get_ylabel(), score.get_ylabel()) == ("risk", "accuracy, %")
    assert points(score.lines[0]) == [[50], [80]]
    assert score.get_title() == "Score on validation data"
    assert score.get_xlim() == loss.get_xlim()
    few, nothing = axes_of(plot_history, history([1.0] * 99), "accuracy", FILE)
    assert [*lines(few)] == ["each update"]
    assert (nothing.get_title(), nothing.get_ylabel()) == ("Nothing was evaluated", "accuracy")
