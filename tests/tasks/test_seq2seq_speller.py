"""The second loss of an encoder: CTC over the target, checked by summing over all ways to spell it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch

from elman.layers.encoder import EncoderOutput
from elman.shapes import Tensor
from elman.tasks.seq2seq.loss import loss
from elman.tasks.seq2seq.speller import SLOTS, Speller
from elman.text.vocab import EOS, PAD
from tests.tasks.toy_pairs import FEW, made


def spell_all_ways(log_probs: Tensor, target: list[int]) -> float:
    """log p of a target: the sum over all paths that collapse to it."""
    total = []
    for path in product(range(log_probs.shape[1]), repeat=len(log_probs)):
        merged = [token for i, token in enumerate(path) if i == 0 or token != path[i - 1]]
        if [token for token in merged if token != PAD] == target:
            total.append(sum(log_probs[i, token].item() for i, token in enumerate(path)))
    return float(torch.tensor(total).logsumexp(0))


def encode(ys: Tensor, mask: Tensor) -> EncoderOutput:
    return EncoderOutput(ys, mask, ys[:, -1], None)


@pytest.mark.parametrize("target", [[4], [4, 5], [5, 5], [4, 5, 4]])
def test_all_ways_to_spell_a_target_are_summed(target: list[int]) -> None:
    torch.manual_seed(0)
    speller, ys = Speller(3, 6), torch.randn(1, 2, 3)
    logits = speller.W(ys)[0].view(2, 6, SLOTS).transpose(1, 2).reshape(2 * SLOTS, 6)
    ids = torch.tensor([[*target, EOS]])
    found = speller.nll(
        encode(ys, torch.ones(1, 2, dtype=torch.bool)), ids, torch.ones_like(ids, dtype=torch.bool)
    )
    assert -found.item() == pytest.approx(spell_all_ways(logits.log_softmax(-1), target), abs=1e-4)


def test_padding_is_inert() -> None:
    torch.manual_seed(0)
    speller, ys = Speller(3, 6), torch.randn(1, 3, 3)
    ids, whole = torch.tensor([[4, 5, EOS]]), torch.ones(1, 3, dtype=torch.bool)
    alone = speller.nll(encode(ys, whole), ids, whole)
    wide, mask = torch.cat([ys, torch.randn(1, 2, 3)], 1), torch.tensor([[True] * 3 + [False] * 2])
    padded = torch.tensor([[4, 5, EOS, PAD]])
    found = speller.nll(encode(wide, mask), padded, torch.tensor([[True] * 3 + [False]]))
    torch.testing.assert_close(found, alone)


def test_a_target_that_its_source_cannot_spell_costs_nothing() -> None:
    speller, ids = Speller(3, 6), torch.tensor([[4, 5, 4, EOS]])
    one = encode(torch.randn(1, 1, 3), torch.ones(1, 1, dtype=torch.bool))
    assert speller.nll(one, ids, torch.ones_like(ids, dtype=torch.bool)).item() == 0


def test_the_second_loss_counts_for_a_token_of_the_target_by_its_weight() -> None:
    model = made(ctc=0.3)
    data = model.encode(FEW)
    batch = model.collate(data.rows)
    encoded = model.net.encode(batch.source, batch.mask)
    costs = model.net.speller.nll(encoded, batch.target, batch.target_mask).sum()
    tokens = sum(target for _, target in data.lengths)
    alone = loss(model.net, replace(model.config, ctc=0.0), batch)
    torch.testing.assert_close(model.loss(data, 0.0), alone + 0.3 * costs / tokens)
