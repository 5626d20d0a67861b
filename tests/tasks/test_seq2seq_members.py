"""Networks that are trained side by side: the mean of their probabilities writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import elman
from elman.errors import ConfigError, ModelError
from elman.tasks.seq2seq.loss import costs, nll, teacher_forced
from elman.tasks.seq2seq.task import Seq2Seq
from tests.tasks.toy_pairs import FEW, made

TEXTS = ["ab", "bca", "cc", "abcab"]


def members_apart(model: Seq2Seq) -> list[Seq2Seq]:
    """Each member as a model of its own."""
    found = []
    for net in model.net.members:
        one = made()
        one.net.load_state_dict({k: v for k, v in net.state_dict().items() if not k.startswith("others.")})
        found.append(one)
    return found


def test_members_write_what_models_together_write() -> None:
    model = made(members=3)
    first, *others = members_apart(model)
    together = model.translations(TEXTS, n_best=3)
    assert together == first.translations(TEXTS, n_best=3, others=others)
    assert together != first.translations(TEXTS, n_best=3)


def test_a_target_costs_what_the_mean_probability_says() -> None:
    model = made(members=2)
    batch = model.collate(model.encode(FEW).rows)
    each = [costs(one, teacher_forced(one, batch), batch.target, batch.copies) for one in model.net.members]
    mean = torch.stack([(-cost).exp() for cost in each]).mean(0)
    torch.testing.assert_close(nll(model.net, batch), -mean.log())


def test_every_member_learns() -> None:
    model = made(members=2)
    model.loss(model.encode(FEW), 0.0).backward()
    assert all(one.decoder.readout.W.weight.grad.abs().sum() > 0 for one in model.net.members)


def test_attention_is_that_of_all_members() -> None:
    model = made(members=2)
    apart = [one.align("abc", "xy").weights for one in members_apart(model)]
    torch.testing.assert_close(model.align("abc", "xy").weights, torch.stack(apart).mean(0))


def test_members_are_saved(tmp_path: Path) -> None:
    model = made(members=2)
    model.net.float()
    model.save(tmp_path / "model")
    assert elman.load(tmp_path / "model", Seq2Seq).translate(TEXTS) == model.translate(TEXTS)


def test_what_is_for_one_network_says_so() -> None:
    model = made(members=2)
    with pytest.raises(ConfigError, match=r"model\.members"):
        model.sequence_model()
    with pytest.raises(ModelError, match=r"model\.members"):
        model.blueprint()
