"""Exposure bias: counted out by hand on models so small that this can be done."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from elman.decoding import AtTokens
from elman.inspect.exposure import measure_exposure
from elman.inspect.exposure_curves import plot_exposure_curves
from tests.objectives.toy import END, START, A, B, Pairs, Toy, pairs

BATCHES = [pairs([B, A, END], [A, A, A], [B, END]), pairs([A, B, B], seed=5)]


def run(toy: Toy, x: torch.Tensor, fed: list[int]) -> torch.Tensor:
    """The log-probabilities after reading START and these tokens."""
    h = x
    for token in (START, *fed):
        h = torch.tanh(toy.net.E[token] + toy.net.U @ h)
    return (toy.net.O @ h).log_softmax(0).detach()


def rows(batch: Pairs) -> list[tuple[torch.Tensor, list[int]]]:
    both = zip(batch.x, batch.y.tokens, batch.y.mask, strict=True)
    return [(x, tokens[mask].tolist()) for x, tokens, mask in both]


def every() -> list[tuple[torch.Tensor, list[int]]]:
    return [row for batch in BATCHES for row in rows(batch)]


def test_forced_costs_are_those_of_gold_by_position():
    toy = Toy()
    found = measure_exposure(toy, BATCHES).forced
    for place in range(3):
        costs = [-float(run(toy, x, y[:place])[y[place]]) for x, y in every() if place < len(y)]
        assert found.nats[place] == pytest.approx(np.mean(costs))
        assert found.counts[place] == len(costs)


def test_columns_behind_the_end_of_the_longest_are_inert():
    toy, batch = Toy(), BATCHES[0]
    wide = [torch.nn.functional.pad(part, (0, 2)) for part in batch.y]
    found = measure_exposure(toy, [batch._replace(y=type(batch.y)(*wide))])
    plain = measure_exposure(toy, [batch])
    assert np.allclose(found.forced.nats, plain.forced.nats)
    assert np.allclose(found.excess, plain.excess)


def test_free_running_reads_what_it_wrote():
    toy = Toy()
    found = measure_exposure(toy, BATCHES).free
    nats, right = [[], [], []], [[], [], []]
    for x, gold in every():
        known = set(zip([None, *gold], gold, strict=False))
        own: list[int] = []
        while len(own) < 3 and END not in own:
            said = run(toy, x, own)
            token = int(said.argmax())
            nats[len(own)].append(-float(said[token]))
            right[len(own)].append((own[-1] if own else None, token) in known)
            own.append(token)
    for place, some in enumerate(nats):
        if some:
            assert found.nats[place] == pytest.approx(np.mean(some))
            assert found.right[place] == pytest.approx(np.mean(right[place]))
            assert found.counts[place] == len(some)


def test_the_excess_is_what_gold_costs_more_after_own_tokens():
    toy = Toy()
    found = measure_exposure(toy, BATCHES, own=2)
    more: dict[int, list[float]] = {1: [], 2: []}
    for x, gold in every():
        own: list[int] = []
        for k in (1, 2):
            own.append(int(run(toy, x, own).argmax()))
            if END in own or k >= len(gold):
                break
            cost = run(toy, x, gold[:k])[gold[k]] - run(toy, x, own)[gold[k]]
            more[k].append(float(cost))
    assert len(found.excess) == sum(bool(some) for some in more.values())
    for k, value in enumerate(found.excess, 1):
        assert value == pytest.approx(np.mean(more[k]))
        assert found.counts[k - 1] == len(more[k])
    assert found.cumulative[-1] == pytest.approx(found.excess.sum())
    assert found.bias == pytest.approx(found.excess.mean())


class Endless(Toy):
    """Writes on until its end token, so that there is room for several beginnings of gold."""

    def begin(self, batch: Pairs, copies: int = 1):
        return replace(super().begin(batch, copies), stop=AtTokens((END,)), limit=12)


def test_own_tokens_begin_after_every_fourth_of_gold():
    toy, gold = Endless(3), [A, B, B, A, B, A, A, B, A, B]
    with torch.no_grad():
        toy.net.O[END] = 0
    batch = pairs(gold, gold[:6], seed=3)
    more: dict[int, list[float]] = {1: [], 2: []}
    for x, right in rows(batch):
        for cut in (0, 4, 8):
            own: list[int] = []
            for k in (1, 2):
                own.append(int(run(toy, x, right[:cut] + own).argmax()))
                if cut + k >= len(right) or END in own:
                    break
                here = right[cut + k]
                cost = run(toy, x, right[: cut + k])[here] - run(toy, x, right[:cut] + own)[here]
                more[k].append(float(cost))
    found = measure_exposure(toy, [batch], own=2)
    assert found.counts.tolist() == [len(more[1]), len(more[2])]
    assert len(more[1]) > len(more[2]) > 2
    assert found.excess == pytest.approx([np.mean(more[1]), np.mean(more[2])])


def test_a_model_that_writes_gold_has_no_exposure_bias():
    """What it reads is the same then, forced or free."""
    toy = Toy(4)
    x = BATCHES[0].x[:1]
    own: list[int] = []
    while len(own) < 3 and END not in own:
        own.append(int(run(toy, x[0], own).argmax()))
    found = measure_exposure(toy, [pairs(own)._replace(x=x)])
    assert found.forced.nats == pytest.approx(found.free.nats)
    assert found.forced.right == pytest.approx(1)
    assert found.free.right == pytest.approx(1)
    assert found.bias == pytest.approx(0)


def test_where_positions_answer_to_each_other_right_is_the_same_token():
    toy = Toy()
    toy.aligned = True
    found = measure_exposure(toy, BATCHES).forced.right
    for place in range(3):
        right = [float(run(toy, x, y[:place]).argmax() == y[place]) for x, y in every() if place < len(y)]
        assert found[place] == pytest.approx(np.mean(right))


def test_what_is_written_beyond_the_end_of_gold_is_wrong_where_positions_answer_to_each_other():
    toy = Endless(3)
    toy.aligned = True
    with torch.no_grad():
        toy.net.O[END] = 0
    batch = pairs([A, B, B], [B], seed=3)
    found = measure_exposure(toy, [batch]).free
    for place, (share, count) in enumerate(zip(found.right, found.counts, strict=True)):
        right = []
        for x, gold in rows(batch):
            own: list[int] = []
            while len(own) <= place and END not in own:
                own.append(int(run(toy, x, own).argmax()))
            if len(own) > place:
                right.append(place < len(gold) and own[place] == gold[place])
        assert (share, count) == (pytest.approx(np.mean(right)), len(right))
    assert len(found.right) > 3


def test_it_can_be_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    plot_exposure_curves(measure_exposure(Toy(), BATCHES), tmp_path / "exposure.png")
    assert (tmp_path / "exposure.png").stat().st_size > 5000
