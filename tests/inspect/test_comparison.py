"""Cells side by side, on settings small enough to see that the machinery is right."""

import dataclasses
import subprocess
import sys
import time

import numpy as np
import pytest

from elman.cells import GRU, LSTM, Elman, count_parameters
from elman.errors import ConfigError
from elman.inspect import comparison
from elman.inspect.compared_cells import resolve_cells
from elman.inspect.comparison import WIDTH, Comparison
from elman.inspect.comparison_tasks import (
    EMBEDDING,
    LETTERS,
    NOISE,
    SYMBOLS,
    VALUES,
    VARIABLES,
    memory_examples,
    spelling_examples,
)


class MGU(GRU):
    """A cell with a name of its own."""


TINY = Comparison(steps=4, memory_updates=100, words=200, little_updates=40)


@pytest.fixture(scope="module")
def results():
    began = time.perf_counter()
    found = {r.cell: r for r in TINY.run(["elman", "lstm"])}
    assert sum(r.seconds for r in found.values()) <= time.perf_counter() - began
    return found


def test_a_memory_example_holds_its_own_answer():
    examples = memory_examples(50, 7, seed=3)
    assert examples.ids.shape == (50, VARIABLES + 7 + 1)
    first = VARIABLES * VALUES
    for ids, label in zip(examples.ids.tolist(), examples.labels.tolist(), strict=True):
        assigned, noise, asked = ids[:VARIABLES], ids[VARIABLES:-1], ids[-1] - first - NOISE
        assert sorted(symbol // VALUES for symbol in assigned) == [*range(VARIABLES)]
        assert all(first <= symbol < first + NOISE for symbol in noise)
        assert {symbol // VALUES: symbol % VALUES for symbol in assigned}[asked] == label
    assert examples.ids.max() < SYMBOLS
    assert set(examples.labels.tolist()) == set(range(VALUES))


def test_a_spelling_example_is_a_word_or_a_word_reversed():
    examples = spelling_examples(seed=0)
    words = [
        "".join(LETTERS[i] for i in ids[mask].tolist())
        for ids, mask in zip(examples.ids, examples.mask, strict=True)
    ]
    straight = {w if label else w[::-1] for w, label in zip(words, examples.labels.tolist(), strict=True)}
    assert {"function", "module", "return"} <= straight
    assert len(straight) == len(words) > 1000
    assert examples.labels.float().mean().item() == pytest.approx(0.5, abs=1e-3)


def test_results_are_sane(results):
    for name, result in results.items():
        assert result.cell == name
        assert 100 / VALUES < result.memory <= 100
        assert 50 < result.little_data <= 100
        assert result.seconds > 0
        assert result.norms.shape == (VARIABLES + 4 + 1 + 1,)
        assert np.isfinite(result.norms).all()
    assert results["lstm"].parameters == count_parameters(LSTM(EMBEDDING, WIDTH))


def test_the_seed_decides(results):
    (again,) = TINY.run(["lstm"])
    first = results["lstm"]
    assert (again.memory, again.little_data) == (first.memory, first.little_data)
    np.testing.assert_array_equal(again.norms, first.norms)
    quick = dataclasses.replace(TINY, memory_updates=2, little_updates=2)
    one, other = (next(dataclasses.replace(quick, seed=s).run(["elman"])) for s in (0, 1))
    assert (one.norms != other.norms).any()


def test_each_length_is_tested_and_the_longest_is_trained_on(monkeypatch):
    trained, honest = [], comparison.train_memory
    monkeypatch.setattr(comparison, "train_memory", lambda *given: trained.append(given[1]) or honest(*given))
    tiny = dataclasses.replace(TINY, steps=9, lengths=(4, 2, 3), memory_updates=3, little_updates=1)
    (result,) = tiny.run(["elman"])
    assert trained == [4]
    assert [*result.memory_by_length] == [2, 3, 4]
    assert result.memory == result.memory_by_length[4]
    assert result.norms.shape == (VARIABLES + 4 + 1 + 1,)


def test_cells_are_equal_in_width_or_in_parameters():
    tiny = dataclasses.replace(TINY, memory_updates=1, little_updates=1)
    assert [r.width for r in dataclasses.replace(tiny, width=7).run(["elman", "lstm"])] == [7, 7]
    sizes = [r.parameters for r in dataclasses.replace(tiny, parameters=2000).run(["elman", "lstm"])]
    assert all(abs(size - 2000) < 150 for size in sizes)


def test_a_cell_of_a_file_is_one_of_a_comparison(tmp_path):
    (tmp_path / "own.py").write_text("from elman.cells import GRU\n\n\nclass Own(GRU):\n    pass\n")
    (maker,) = resolve_cells([f"{tmp_path}/own.py:Own"]).values()
    assert type(maker(3, 4)).__name__ == "Own"


def test_a_cell_may_be_a_formula_and_two_of_one_name_are_refused():
    assert [*resolve_cells(["lstm", "lstm", MGU])] == ["lstm", "MGU"]
    other = type("MGU", (Elman,), {})
    with pytest.raises(ConfigError, match="two different cells are called 'MGU': give one of them another"):
        resolve_cells([MGU, other])


def test_an_unknown_cell_is_said_before_any_work():
    with pytest.raises(ConfigError, match=r"^unknown cell 'lstmm'; did you mean 'lstm'"):
        next(Comparison().run(["lstm", "lstmm"]))


def test_minutes_are_shared_by_the_cells_and_most_are_for_the_long_task():
    long, short = Comparison(minutes=2.0)._budgets(3)
    assert long.seconds + short.seconds == pytest.approx(40)
    assert long.seconds > short.seconds > 0
    long, short = Comparison(memory_updates=5, little_updates=3)._budgets(3)
    assert (long.updates, long.seconds, short.updates, short.seconds) == (5, None, 3, None)


def test_held_out_examples_were_not_trained_on():
    trained = {tuple(ids) for seed in range(1, 101) for ids in memory_examples(64, 4, seed).ids.tolist()}
    held_out = memory_examples(1000, 4, 10_000_000).ids.tolist()
    assert sum(tuple(ids) in trained for ids in held_out) < 5


def test_the_picture_is_a_png(results, tmp_path):
    pytest.importorskip("matplotlib")
    path, norms = tmp_path / "gradients.png", results["lstm"].norms.tolist()
    # By itself: drawing must not need a display, nor anything that a test run has set up.
    draw = (
        "import pathlib, numpy as np; from elman.inspect.plots import plot_gradients; "
        f"plot_gradients({{'relu': np.geomspace(1e6, 1, 8)}}, {{'lstm': np.array({norms})}}, "
        f"pathlib.Path({str(path)!r}))"
    )
    subprocess.run([sys.executable, "-c", draw], check=True)
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(data) > 10_000
