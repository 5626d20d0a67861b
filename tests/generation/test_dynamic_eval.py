"""Dynamic evaluation: the weights follow the text, and come back."""

import numpy as np
import pytest
import torch

from elman.errors import ConfigError
from elman.generation import DynamicEval
from elman.generation.dynamic_eval import Adaptation
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig

LINES = ["a b c d e f g h", "c a h", "h g f a"]


def made(**options: object) -> LanguageModel:
    torch.manual_seed(0)
    model = LanguageModelConfig(**{"hidden": 8, "embedding": 8, "layers": 1, "dropout": 0.3, **options})
    return LanguageModel.from_examples(model, TokenizerConfig(), LINES)


@pytest.mark.parametrize("steps", [1, 4, 100])
def test_at_rate_zero_it_is_plain_evaluation(steps: int) -> None:
    lm = made()
    data = lm.encode(LINES)
    plain = lm.evaluate_dataset(data)
    still = lm.evaluate_dataset(data, dynamic=DynamicEval(rate=0.0, steps=steps, warm=0))
    assert still == pytest.approx(plain, rel=1e-5)


def test_the_network_itself_stays_as_it_is_even_if_reading_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lm = made()
    lm.net.train()
    before = [p.detach().clone() for p in lm.net.parameters()]
    change, moved = Adaptation._change, []

    def interrupted(self: Adaptation, gradients: list[torch.Tensor]) -> None:
        change(self, gradients)
        pairs = zip(before, self.weights, strict=True)
        moved.append(any(not torch.equal(one, other) for one, other in pairs))
        if len(moved) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Adaptation, "_change", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lm.evaluate_dataset(lm.encode(LINES * 5), dynamic=DynamicEval(rate=0.1, warm=0))
    assert moved == [True] * 3
    assert lm.net.training
    for one, other in zip(before, lm.net.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_text_that_repeats_itself_is_learnt_while_it_is_read() -> None:
    lm = made()
    data = lm.encode(["c a h"] * 40)
    plain = lm.evaluate_dataset(data)["perplexity"]
    adapted = lm.evaluate_dataset(data, dynamic=DynamicEval(rate=0.02, warm=2, steps=5))["perplexity"]
    assert adapted < 0.5 * plain


@pytest.mark.parametrize("warm", [0, 1])
def test_updates_follow_the_formula(warm: int) -> None:
    """With a decay at which some weights go all the way back, and none goes beyond."""
    lm, how = made(), DynamicEval(rate=0.01, decay=0.5, epsilon=1e-2, warm=warm, steps=3)
    lm.net.eval()
    ids = torch.tensor([[4, 5, 6, 7, 8, 9, 10]])
    w0 = {n: p.detach().double().numpy().copy() for n, p in lm.net.named_parameters()}
    w, squares = {n: v.copy() for n, v in w0.items()}, dict.fromkeys(w0, 0.0)
    adaptation = Adaptation(lm.net, how)
    net = adaptation.net
    state = net.begin(1)
    for k, start in enumerate((0, 3, 1)):
        x, y = ids[:, start : start + 3], ids[:, start + 1 : start + 4]
        _, hs = net.read(state, x)
        loss = net.output.nll(hs, y).mean()
        found = torch.autograd.grad(loss, list(net.parameters()))
        g = {n: v.double().numpy() for n, v in zip(w, found, strict=True)}
        squares = {n: (squares[n] * k + g[n] ** 2) / (k + 1) for n in w}
        state, _, _ = adaptation.read(state, x, y, y > 0)
        if k < warm:
            continue
        roots = {n: np.sqrt(s) for n, s in squares.items()}
        mean = sum(r.sum() for r in roots.values()) / sum(r.size for r in roots.values())
        assert any((how.decay * root > 2 * mean).any() for root in roots.values())
        for n, p in net.named_parameters():
            back = np.minimum(how.decay * roots[n] / mean, 1) * (w0[n] - w[n])
            w[n] = w[n] - how.rate * g[n] / (roots[n] + how.epsilon) + back
            np.testing.assert_allclose(p.detach().numpy(), w[n], rtol=1e-4, atol=1e-6)


def test_a_text_that_was_followed_is_likelier_then() -> None:
    lm = made()
    text = lm.encode(["c a h"] * 60).ids.tolist()
    before = lm.perplexity(["c a h"] * 5)
    how = DynamicEval(rate=0.02, warm=0)
    adaptation = Adaptation(lm.net, how)
    adaptation.follow(text, lm.end)
    assert adaptation.seen == -(-len(text) // how.steps)
    assert lm.perplexity(["c a h"] * 5) == before
    lm.net = adaptation.net
    assert lm.perplexity(["c a h"] * 5) < before / 2


def test_a_text_is_followed_from_the_state_in_which_the_one_before_it_ended() -> None:
    lm, how = made(), DynamicEval(rate=0.02, warm=0, steps=4)
    ids = torch.tensor([[lm.end, 4, 5, 6, 7, 8, 9, 10, 4]])
    whole, cut = Adaptation(lm.net, how), Adaptation(lm.net, how)
    whole.follow(ids[0, 1:].tolist(), lm.end)
    x, y = ids[:, :4], ids[:, 1:5]
    state, _, _ = cut.read(cut.net.begin(1), x, y, y > 0)
    cut.follow(ids[0, 5:].tolist(), int(ids[0, 4]), state)
    for one, other in zip(whole.weights, cut.weights, strict=True):
        torch.testing.assert_close(one, other)


def test_what_is_drawn_back_comes_nearer() -> None:
    def moved(decay: float) -> float:
        lm = made()
        data = lm.encode(["c a h"] * 10)
        adaptation = Adaptation(lm.net, DynamicEval(rate=0.02, decay=decay, warm=0))
        state, ids = lm.net.begin(1), torch.from_numpy(data.ids.astype(np.int64))[None]
        for i in range(0, 30, 3):
            x, y = ids[:, i : i + 3], ids[:, i + 1 : i + 4]
            state, _, _ = adaptation.read(state, x, y, y > 0)
        return (lm.net.embed.E.weight - adaptation.net.embed.E.weight).abs().sum().item()

    assert moved(0.2) < moved(0.0)


def test_rare_words_of_an_adaptive_softmax_need_no_gradient() -> None:
    lm = made(softmax="adaptive", tied=False, cutoffs=(6,))
    assert lm.evaluate_dataset(lm.encode(["a a a"] * 5), dynamic=DynamicEval(warm=0))["perplexity"] > 0


@pytest.mark.parametrize("options", [{"steps": 0}, {"rate": -1.0}, {"epsilon": 0.0}])
def test_settings_without_sense_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        DynamicEval(**options)


def test_weights_are_drawn_back_to_where_they_were_and_no_further() -> None:
    lm = made()
    adaptation = Adaptation(lm.net, DynamicEval(rate=0.0, decay=1e9, warm=0))
    with torch.no_grad():
        for weight in adaptation.weights:
            weight.add_(1.0)
    adaptation._change([torch.ones_like(weight) for weight in adaptation.weights])
    for weight, trained in zip(adaptation.weights, adaptation.trained, strict=True):
        torch.testing.assert_close(weight, trained)
