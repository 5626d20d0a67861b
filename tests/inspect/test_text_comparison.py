"""Cells on a text of one's own: the split, the budget, equal sizes and the score."""

import dataclasses
import time
from math import log2

import numpy as np
import pytest
import torch

from elman.cells import GRU, Elman, count_parameters
from elman.errors import ConfigError, DataError
from elman.inspect import text_comparison
from elman.inspect.char_model import EMBEDDING, CharModel, CharText, bits_per_character, update_weights
from elman.inspect.equal_size import fit_width
from elman.inspect.text_comparison import TextComparison, read_char_text
from elman.inspect.training_budget import TrainingBudget

TEXT = CharText.of("abcd" * 250)
TINY = TextComparison(updates=12, width=8)


def test_the_last_tenth_is_held_out_and_every_character_has_a_number():
    text = CharText.of("héllo wörld\n" * 10)
    assert (len(text.train), len(text.held_out), text.characters) == (108, 12, 10)
    assert len(set(text.train.tolist())) == 10


def test_a_model_that_knows_nothing_needs_as_many_bits_as_there_are_choices():
    net = CharModel(GRU(4, 5), TEXT.characters)
    net.decide.weight.data.zero_()
    net.decide.bias.data.zero_()
    assert bits_per_character(net, TEXT) == pytest.approx(2.0, abs=1e-6)
    assert TEXT.frequency_bits() == pytest.approx(2.0, abs=1e-3)


def test_frequencies_alone_are_the_cross_entropy_of_counts():
    text = CharText(np.array([0, 0, 0, 1]), np.array([0, 1]), 2)
    assert text.frequency_bits() == pytest.approx(-(log2(4 / 6) + log2(2 / 6)) / 2)


def test_a_text_that_repeats_is_learnt_and_the_seed_decides():
    began = time.perf_counter()
    runs = [next(dataclasses.replace(TINY, updates=30, seed=s).run(["gru"], TEXT)) for s in (0, 0, 1)]
    assert 0 < sum(run.seconds for run in runs) <= time.perf_counter() - began
    assert runs[0].bits < 1 < runs[0].curve[0][1]
    assert (runs[0].bits, runs[0].curve) == (runs[1].bits, runs[1].curve)
    assert runs[0].bits != runs[2].bits
    assert (runs[0].updates, runs[0].curve[-1]) == (30, (30, runs[0].bits))


def test_models_of_different_cells_have_as_many_parameters():
    found = TextComparison(updates=1, parameters=3000).run(["elman", "lstm", "mingru"], TEXT)
    sizes = {result.cell: (result.width, result.parameters) for result in found}
    assert all(abs(parameters - 3000) < 120 for _, parameters in sizes.values())
    assert sizes["elman"][0] > sizes["lstm"][0]


def test_the_width_is_the_nearest_one():
    assert [fit_width(lambda width: width**2, n) for n in (1, 2, 3, 90, 91, 10**6)] == [1, 1, 2, 9, 10, 1000]
    with pytest.raises(ConfigError, match=r"^parameters is 3; a single unit makes 10 already: ask for more$"):
        fit_width(lambda width: 10 * width, 3)


def test_a_budget_of_seconds_ends_when_they_have_passed(monkeypatch):
    clock = iter([100.0, 100.4, 100.8, 101.2])
    monkeypatch.setattr("time.perf_counter", lambda: next(clock))
    spent = [*TrainingBudget(9, seconds=1.0).turns()]
    assert spent == [(0.0, 1.0), (pytest.approx(0.4), 1.0), (pytest.approx(0.8), 1.0)]
    assert [*TrainingBudget(3).turns()] == [(0, 3), (1, 3), (2, 3)]


def test_minutes_are_shared_by_the_cells(monkeypatch):
    budgets = []
    monkeypatch.setattr(
        text_comparison, "_learn", lambda net, text, budget, lr: budgets.append(budget) or [(1, 2.0)]
    )
    [*TextComparison(width=4, minutes=3.0).run(["gru", "elman", "lstm"], TEXT)]
    assert [budget.seconds for budget in budgets] == [60.0] * 3
    budgets.clear()
    [*TextComparison(width=4, updates=7).run(["gru"], TEXT)]
    assert [(budget.updates, budget.seconds) for budget in budgets] == [(7, None)]


def test_a_text_that_is_too_short_and_two_sizes_at_once_are_refused(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("too short\n")
    with pytest.raises(DataError, match=r"short\.txt: 10 characters are too few to compare cells on"):
        read_char_text(path)
    with pytest.raises(ConfigError, match="width and parameters exclude each other"):
        TextComparison(width=3, parameters=100)


def test_the_cell_alone_differs_between_models_of_one_width():
    nets = {r.cell: r.parameters for r in TextComparison(updates=1, width=8).run(["elman", "gru"], TEXT)}
    cells = count_parameters(GRU(EMBEDDING, 8)) - count_parameters(Elman(EMBEDDING, 8))
    assert nets["gru"] - nets["elman"] == cells


def test_a_gradient_that_is_not_finite_changes_no_weight():
    net = CharModel(GRU(4, 5), TEXT.characters)
    before, optimizer = [p.clone() for p in net.parameters()], torch.optim.SGD(net.parameters(), lr=0.1)
    loss = torch.stack([p.sum() for p in net.parameters()]).sum()
    assert not update_weights(net, optimizer, loss * torch.inf)
    assert all(torch.equal(p, old) for p, old in zip(net.parameters(), before, strict=True))
    assert update_weights(net, optimizer, torch.stack([p.sum() for p in net.parameters()]).sum())
    assert not any(torch.equal(p, old) for p, old in zip(net.parameters(), before, strict=True))
