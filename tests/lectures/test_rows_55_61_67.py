"""How language models are trained in the lectures, row by row, each against something that is not Elman."""

import numpy as np
import pytest
import torch
from torch import nn

from elman.layers import RNN, to_torch
from elman.state import detach
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import BPTTBatch, LanguageModel, LanguageModelConfig

LINES = ["once upon a time there was a king", "the tide was up"]


def made(**options: object) -> LanguageModel:
    torch.manual_seed(2)
    plain = {"cell": "elman", "hidden": 5, "embedding": 5, "layers": 1, "dropout": 0.0, **options}
    lm = LanguageModel.from_examples(LanguageModelConfig(**plain), TokenizerConfig(), LINES)
    for weight in lm.net.parameters():
        nn.init.normal_(weight, std=0.5)
    lm.net.double().eval()
    return lm


def batch(lm: LanguageModel, ids: list[int]) -> BPTTBatch:
    """Each id but the first is a target."""
    row = torch.tensor([ids])
    return BPTTBatch(row[:, :-1], row[:, 1:], torch.ones(1, len(ids) - 1, dtype=torch.bool), 1.0)


def text(lm: LanguageModel) -> list[int]:
    return [lm.end, *lm.tokenizer.encode(LINES[0]), lm.end]


class Usual(nn.Module):
    """PyTorch's modules with copies of the weights."""

    def __init__(self, lm: LanguageModel) -> None:
        super().__init__()
        self.E = nn.Parameter(lm.net.embed.E.weight.detach().clone())
        self.V = nn.Parameter(lm.net.output.W.detach().clone())
        self.b = nn.Parameter(lm.net.output.b.detach().clone())
        self.rnn = nn.RNN(lm.net.embed.output_size, 5, batch_first=True).double()
        self.rnn.load_state_dict(to_torch(RNN(lm.net.layers.stack[0].cell.cell)))

    def forward(self, ids: torch.Tensor, state: torch.Tensor | None = None):
        hs, state = self.rnn(self.E[ids], state)
        return hs @ self.V.T + self.b, state

    def loss(self, some: BPTTBatch, state: torch.Tensor | None = None):
        logits, state = self(some.ids, state)
        return nn.functional.cross_entropy(logits[0], some.targets[0]), state


def gradients(loss: torch.Tensor, *weights: torch.Tensor) -> list[torch.Tensor]:
    return list(torch.autograd.grad(loss, weights, retain_graph=True))


def test_row_55_the_rows_of_the_embedding_are_those_of_the_softmax():
    """y = softmax(E h) in numpy, h by PyTorch; the gradient of E is that of both its uses."""
    lm = made()
    ids, usual = text(lm), Usual(lm)
    E = lm.net.embed.E.weight
    with torch.no_grad():
        hs = usual.rnn(usual.E[torch.tensor([ids[:-1]])])[0][0].numpy()
    scores = np.exp(hs @ E.detach().numpy().T + lm.net.output.b.detach().numpy())
    y = scores / scores.sum(1, keepdims=True)
    expected = np.log([row[i] for row, i in zip(y, ids[1:], strict=True)])
    assert lm.score(LINES[0]).log_probs == pytest.approx(expected.tolist())
    (found,) = gradients(lm.loss(batch(lm, ids), 0.0), E)
    as_input, as_output = gradients(usual.loss(batch(lm, ids))[0], usual.E, usual.V)
    torch.testing.assert_close(found, as_input + as_output)
    names = [name for name, _ in lm.net.named_parameters() if name.startswith(("embed", "softmax"))]
    assert names == ["embed.E.weight", "softmax.b"], "no other matrix of the vocabulary's size"


def test_row_55_sizes_that_differ_have_a_projection_between_them():
    lm = made(embedding=3)
    h = torch.randn(4, 5, dtype=torch.double)
    E, P = lm.net.embed.E.weight, lm.net.output.P.weight
    expected = h.numpy() @ P.detach().numpy().T @ E.detach().numpy().T
    found = lm.net.output.logits(h) - lm.net.output.b
    np.testing.assert_allclose(found.detach().numpy(), expected)


def test_row_61_a_text_of_t_tokens_teaches_t_items_each_after_the_right_words():
    """One pass is the mean of T predictions, each of them made from its own words alone."""
    lm = made(tied=False)
    ids, usual = text(lm), Usual(lm)
    items = [
        nn.functional.cross_entropy(usual(torch.tensor([ids[:t]]))[0][0, -1:], torch.tensor([right]))
        for t, right in enumerate(ids[1:], 1)
    ]
    loss = lm.loss(batch(lm, ids), 0.0)
    assert loss.item() == pytest.approx(sum(item.item() for item in items) / len(items))
    assert loss.item() * len(items) == pytest.approx(-float(lm.score(LINES[0])))
    ours = gradients(loss, lm.net.embed.E.weight, lm.net.output.W, lm.net.output.b)
    for one, other in zip(ours, gradients(torch.stack(items).mean(), usual.E, usual.V, usual.b), strict=True):
        torch.testing.assert_close(one, other)


def test_row_67_gradients_go_back_through_the_unrolled_graph_and_stop_where_it_is_cut():
    """Windows of three tokens: PyTorch's RNN with its state detached between them."""
    lm = made(tied=False)
    ids, usual = text(lm), Usual(lm)
    windows = [batch(lm, ids[i : i + 4]) for i in range(0, len(ids) - 1, 3)]
    state, other = lm.bptt_loss.begin(windows[0]), None
    cell = lm.net.layers.stack[0].cell.cell
    total = 0.0
    for window in windows:
        loss, state = lm.bptt_loss(window, 0.0, detach(state))
        expected, other = usual.loss(window, None if other is None else other.detach())
        ours = gradients(loss, lm.net.embed.E.weight, cell.W, cell.matrices()[0])
        theirs = (usual.E, usual.rnn.weight_ih_l0, usual.rnn.weight_hh_l0)
        for one, two in zip(ours, gradients(expected, *theirs), strict=True):
            torch.testing.assert_close(one, two)
        total += loss.item() * window.ids.numel()
    assert total == pytest.approx(-float(lm.score(LINES[0]))), "the state is carried over"
    whole = gradients(lm.loss(batch(lm, ids), 0.0), cell.matrices()[0])[0]
    unrolled = gradients(usual.loss(batch(lm, ids))[0], usual.rnn.weight_hh_l0)[0]
    torch.testing.assert_close(whole, unrolled)
