"""Adversarial training: against its definition by plain autograd, in every task that has it."""

import pytest
import torch

from elman.errors import ConfigError
from elman.pipeline.recipe import build
from elman.state import eval_mode
from elman.tasks.adversarial import adversarial_loss
from elman.tasks.tagger.task import TaggerConfig
from tests.tasks.names import OUTPUTS, TINY, conll, examples, fresh

SHARE = 0.5


def test_the_words_are_moved_along_the_gradient_by_a_share_of_their_length():
    net, xs = torch.nn.Linear(3, 1), torch.randn(4, 5, 3)
    mask = torch.arange(5) < torch.tensor([5, 1, 3, 2])[:, None]
    seen: list[torch.Tensor] = []

    def loss_at(words):
        seen.append(words)
        return (net(words)[..., 0] * mask).square().sum()

    adversarial_loss(net, xs, mask, SHARE, loss_at)
    step = (seen[1] - xs).flatten(1)
    (g,) = torch.autograd.grad(loss_at(xs.requires_grad_()), xs)
    length = (xs.detach() * mask[..., None]).flatten(1).norm(dim=1)
    torch.testing.assert_close(step.norm(dim=1), SHARE * length)
    torch.testing.assert_close(torch.cosine_similarity(step, g.flatten(1)), torch.ones(4))


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_tagger_is_trained_on_its_words_and_on_words_moved_for_the_worst(output):
    model = fresh(output=output, adversarial=SHARE, dropout=0.0, word_dropout=0.0)
    batch, weights = model.encode(examples(6)), [*model.net.parameters()]
    plain = model.loss(batch, 0.0)  # nothing is moved outside of training
    model.net.train()
    loss = model.loss(batch, 0.0)
    assert loss > plain
    seen: list[torch.Tensor] = []
    read = model.net.read
    model.net.read = lambda xs, mask: (seen.append(xs), read(xs, mask))[1]
    model.loss(batch, 0.0)
    step = (seen[1] - seen[0]).detach()
    del model.net.read

    def loss_at(step):
        moved = model.net.words.register_forward_hook(lambda net, given, xs: xs + step)
        with eval_mode(model.net):
            value = model.loss(batch, 0.0)
        moved.remove()
        return value

    both = (loss_at(0 * step) + loss_at(step)) / 2
    torch.testing.assert_close(loss, both)
    gradients = (torch.autograd.grad(y, weights, allow_unused=True) for y in (loss, both))
    for found, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(found, expected)


def test_tags_that_the_model_feeds_itself_are_not_trained_adversarially(tmp_path):
    recipe = {
        "task": "tagger",
        "data": {"train": conll(tmp_path / "a.conll", 10)},
        "model": TINY | {"output": "autoregressive", "adversarial": 0.1},
        "objective": {"kind": "scheduled"},
    }
    with pytest.raises(ConfigError, match=r"model\.adversarial is for tags that are given"):
        build(recipe)


def test_the_share_may_not_be_negative():
    with pytest.raises(ConfigError, match="adversarial is -1"):
        TaggerConfig(adversarial=-1.0)
