"""What a beam has written is read back from a tree: the same as if it had been copied at each step."""

import numpy as np
import torch

from elman.decoding import AtTokens, Beam
from elman.decoding.tree_history import TreeHistory

LAYERS = [
    (np.array([0, 0]), np.array([5, 6])),
    (np.array([1, 0, 1]), np.array([7, 8, 9])),
    (np.array([2, 0]), np.array([3, 4])),
]


def test_tokens_are_read_back_along_the_parents():
    written = TreeHistory([*LAYERS], np.array([1, 0]), torch.tensor([0, 0]))
    assert written.tokens.tolist() == [[6, 7, 4], [6, 9, 3]]
    assert written.last.tolist() == [4, 3]
    assert written.length == 3


def test_a_history_stays_as_it_was_when_the_tree_grows():
    layers = LAYERS[:2]
    written = TreeHistory(layers, np.array([1]), torch.tensor([0]))
    layers.append(LAYERS[2])
    assert written.length == 2
    assert written.last.tolist() == [8]
    assert written.tokens.tolist() == [[5, 8]]


def test_constraints_see_what_each_hypothesis_has_written():
    seen = {}

    def step(state, tokens):
        written = torch.cat([state, tokens[:, None]], 1)
        torch.manual_seed(0)
        return written, torch.randn(7, 7)[tokens]

    def watch(history, logits):
        seen[history.length] = history.tokens
        return logits

    def compare(state, tokens):  # the state of each hypothesis holds what it has read
        new, logits = step(state, tokens)
        if new.shape[1] > 2:
            states.append(new[:, 2:])
        return new, logits

    states: list[torch.Tensor] = []
    start = torch.zeros(1, dtype=torch.long)
    limits = {"start": start, "stop": AtTokens((6,)), "limit": 6, "constraints": [watch]}
    Beam(width=4)(compare, start[:, None], **limits)
    assert len(states) == len(seen) - 1 > 2
    for length, written in enumerate(states, 1):
        assert torch.equal(seen[length], written)
