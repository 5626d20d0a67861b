"""The small networks that cells are compared by, trained once more here, step by step as it is said."""

import random
from collections.abc import Iterator
from math import cos, pi

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from elman.cells import GRU
from elman.inspect import char_model, length_tasks
from elman.inspect.char_model import CharModel, CharText, bits_per_character, train_char_model
from elman.inspect.comparison_tasks import (
    LETTERS,
    SYMBOLS,
    VALUES,
    Learner,
    accuracy,
    memory_examples,
    spelling_examples,
    train_memory,
    train_spelling,
)
from elman.inspect.length_tasks import TASKS, parity_examples, score_task, train_task
from elman.inspect.training_budget import TrainingBudget

TEXT = CharText.of("".join(random.Random(0).choices("abcd", k=420)))


def net(seed: int = 0, characters: int = 4) -> CharModel:
    torch.manual_seed(seed)
    return CharModel(GRU(3, 5), characters)


def follow(net: nn.Module, losses: Iterator[Tensor], rates: list[float]) -> list[Tensor]:
    """The weights after one update of Adam for each loss, whose gradient is at most of norm 1."""
    optimizer = torch.optim.Adam(net.parameters(), lr=1.0)
    for loss, rate in zip(losses, rates, strict=True):
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss.backward()
        norm = torch.stack([p.grad.norm() for p in net.parameters()]).norm()
        for p in net.parameters():
            p.grad /= max(1.0, float(norm) + 1e-6)
        optimizer.step()
    return [*net.parameters()]


def falling(rate: float, updates: int) -> list[float]:
    return [rate * (1 + cos(pi * done / updates)) / 2 for done in range(updates)]


def assert_same(net: nn.Module, weights: list[Tensor]) -> None:
    for own, expected in zip(net.parameters(), weights, strict=True):
        torch.testing.assert_close(own, expected, atol=1e-5, rtol=1e-4)


def test_a_model_of_characters_reads_windows_in_a_row_and_its_rate_falls_to_zero():
    """378 characters are 5 streams of 76, a full window and a short one each."""
    trained, again, updates = net(), net(), 5
    turns = [*train_char_model(trained, TEXT, TrainingBudget(updates))]
    assert turns == [(done / updates, done) for done in range(updates)] + [(1.0, updates)]

    def losses() -> Iterator[Tensor]:
        epoch = 0
        while True:
            state = None
            for window in char_model.BPTTWindows(TEXT.train, 5, 64, rotate=True, first=0)(epoch):
                logits, state = again(torch.from_numpy(window.ids), state)
                mask = torch.from_numpy(window.mask)
                yield cross_entropy(logits[mask], torch.from_numpy(window.targets)[mask])
                state = state.detach() if isinstance(state, Tensor) else type(state)(h=state.h.detach())
            epoch += 1

    losing = losses()
    assert_same(trained, follow(again, (next(losing) for _ in range(updates)), falling(0.01, updates)))


@torch.no_grad()
def test_held_out_characters_are_read_in_stretches_each_from_the_character_before():
    held_out = np.random.default_rng(0).integers(4, size=600)
    text, reader = CharText(np.array([2, 0, 3]), held_out, 4), net()
    nats = 0.0
    for stretch, first in ((held_out[:300], 3), (held_out[300:], held_out[299])):
        ids = torch.tensor([[first, *stretch[:-1]]])
        logits, _ = reader(ids, None)
        nats += float(cross_entropy(logits[0], torch.from_numpy(stretch), reduction="sum"))
    assert bits_per_character(reader, text) == pytest.approx(nats / 600 / np.log(2), rel=1e-5)


def test_a_character_that_was_never_trained_on_was_seen_once():
    assert CharText(np.array([0, 0, 1]), np.array([2]), 3).frequency_bits() == pytest.approx(np.log2(6))


def test_the_longest_texts_are_scored_in_part(monkeypatch):
    monkeypatch.setattr(char_model, "MOST", 7)
    text = CharText.of("ab" * 100)
    assert (len(text.train), len(text.held_out)) == (180, 7)
    assert [len(part) for part in (CharText.of("abcde").train, CharText.of("abcde").held_out)] == [4, 1]


def test_the_noise_of_the_memory_task_grows_and_no_batch_comes_twice():
    learner = Learner(GRU, 6, seed=3)
    trained, again = train_memory(learner, 4, TrainingBudget(6)), learner.acceptor(SYMBOLS, VALUES)
    draw = random.Random(3)
    steps = [draw.randint(0, longest) for longest in (1, 2, 3, 4, 4, 4)]
    batches = [memory_examples(64, n, 3 + number) for number, n in enumerate(steps, 1)]
    losses = (cross_entropy(again(batch.ids, batch.mask), batch.labels) for batch in batches)
    assert_same(trained, follow(again, losses, [0.01] * 6))
    right = (again(batches[0].ids, batches[0].mask).argmax(1) == batches[0].labels).float().mean()
    assert accuracy(again, batches[0]) == pytest.approx(100 * float(right))


def test_spelling_is_learnt_from_the_first_words_alone():
    learner, data = Learner(GRU, 6, seed=3), spelling_examples(0)
    trained, again = train_spelling(learner, data, 50, TrainingBudget(3)), learner.acceptor(len(LETTERS), 2)
    draw = torch.Generator().manual_seed(3)
    rows = [torch.randint(50, (32,), generator=draw) for _ in range(3)]
    losses = (cross_entropy(again(data.ids[i], data.mask[i]), data.labels[i]) for i in rows)
    assert_same(trained, follow(again, losses, [0.005] * 3))


@pytest.mark.parametrize("task", TASKS)
def test_parity_and_copying_are_learnt_from_fresh_sequences_of_every_length(task):
    examples, symbols = TASKS[task]
    trained, again = net(0, symbols), net(0, symbols)
    assert train_task(trained, examples, 5, 7, TrainingBudget(3)) == 3
    draw = random.Random(7)
    batches = [examples(128, draw.randint(1, 5), 7 + number) for number in (1, 2, 3)]

    def losses() -> Iterator[Tensor]:
        for ids, targets in batches:
            logits, _ = again(ids, None)
            yield cross_entropy(logits[:, -targets.shape[1] :].flatten(0, 1), targets.flatten())

    assert_same(trained, follow(again, losses(), falling(0.005, 3)))


def test_the_score_of_a_task_is_the_share_of_right_answers_to_what_was_not_trained_on(monkeypatch):
    asked = []

    def examples(count: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
        asked.append((count, length, seed))
        return parity_examples(count, length, seed)

    model = net(0, 2)
    found = score_task(model, examples, 6, 3)
    assert asked == [(length_tasks.TESTED, 6, 10_000_003)]
    ids, odd = parity_examples(*asked[0])
    assert found == pytest.approx(
        100 * float((model(ids, None)[0][:, -1].argmax(1) == odd[:, 0]).float().mean())
    )
