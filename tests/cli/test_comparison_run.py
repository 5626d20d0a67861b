"""Cells that are trained seed after seed: their order, mean and spread."""

from types import SimpleNamespace

import pytest

from elman.cli.cell_table import show_cell_table
from elman.cli.comparison_run import describe_seeds, format_spread, group_by_cell, run_seeds


def result(cell, **more):
    return SimpleNamespace(cell=cell, **more)


def test_every_seed_is_run_in_turn_with_its_share_of_the_time():
    asked = []

    def run(seed, minutes, width):
        asked.append((seed, minutes, width))
        for cell in ("a", "b"):
            yield result(cell, seed=seed)

    found = run_seeds(run, ["a", "b"], seeds=3, seed=5, minutes=6.0, width=8)
    assert asked == [(5, 2.0, 8), (6, 2.0, 8), (7, 2.0, 8)]
    assert [(one.seed, one.cell) for one in found] == [(s, c) for s in (5, 6, 7) for c in "ab"]
    asked.clear()
    run_seeds(run, ["a", "b"], seeds=1, seed=0, minutes=None, width=8)
    assert asked == [(0, None, 8)]


def test_the_results_of_a_cell_are_found_in_the_order_of_the_cells():
    some = [result("b", n=1), result("a", n=2), result("b", n=3)]
    grouped = group_by_cell(some)
    assert [*grouped] == ["b", "a"]
    assert [one.n for one in grouped["b"]] == [1, 3]


def test_a_mean_has_a_spread_where_there_are_several():
    assert format_spread([2.0], 1) == "2.0"
    assert format_spread([1.0, 3.0], 2) == "2.00 ± 1.41"  # √2: divided by n - 1
    assert describe_seeds({"seeds": 1}) == "one seed"
    assert describe_seeds({"seeds": 2}) == "mean ± standard deviation of 2 seeds"


def test_in_a_table_of_cells_the_best_on_the_text_comes_first(capsys):
    def on_text(bits, updates):
        return [
            SimpleNamespace(width=1024, parameters=5000, bits=b, updates=u)
            for b, u in zip(bits, updates, strict=True)
        ]

    texts = {"lstm": on_text([2.5, 3.5], [1000, 2001]), "gru": on_text([2.0, 6.0], [10, 10])}
    rights = {
        "lstm": [{"parity": {4: 100.0, 16: 50.0}, "copy": {4: 12.5}}] * 2,
        "gru": [
            {"parity": {4: 90.0, 16: 55.0}, "copy": {4: 25.0}},
            {"parity": {4: 92.0, 16: 55.0}, "copy": {4: 25.0}},
        ],
    }
    lengths = {name: [SimpleNamespace(right=right) for right in some] for name, some in rights.items()}
    show_cell_table(texts, lengths, "mean of 2 seeds")
    head, gru, lstm, caption = capsys.readouterr().out.splitlines()
    columns = [" ".join(line.split()) for line in (head, gru, lstm)]
    assert columns[0].endswith("updates parity 4 % parity 16 % copy 4 %")
    assert columns[1] == "gru 1,024 5,000 4.000 ± 2.828 10 91.0 ± 1.4 55.0 ± 0.0 25.0 ± 0.0"
    assert columns[2] == "lstm 1,024 5,000 3.000 ± 0.707 1,500 100.0 ± 0.0 50.0 ± 0.0 12.5 ± 0.0"
    assert caption == "parity: chance 50 %; copying: chance 12.5 %; mean of 2 seeds"


@pytest.mark.parametrize(("first", "second"), [(2.0, 3.0), (3.0, 2.0)])
def test_the_order_is_by_the_best_seed(first, second, capsys):
    one = SimpleNamespace(width=1, parameters=1, updates=1)
    texts = {n: [SimpleNamespace(**vars(one), bits=b)] for n, b in (("x", first), ("y", second))}
    lengths = {n: [SimpleNamespace(right={"parity": {1: 50.0}})] for n in "xy"}
    show_cell_table(texts, lengths, "one seed")
    order = [line[0] for line in capsys.readouterr().out.splitlines()[1:3]]
    assert order == sorted("xy", key=lambda n: {"x": first, "y": second}[n])
