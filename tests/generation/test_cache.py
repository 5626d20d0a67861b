"""The continuous cache against its formula, written slowly."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elman.decoding import Greedy
from elman.errors import ConfigError
from elman.generation import Cache, LMPredictor, with_cache
from elman.state import from_bytes, to_bytes
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import LanguageModel, LanguageModelConfig, LanguageModelDataset

V, H = 6, 3


def slow(cache: Cache, hs: np.ndarray, tokens: list[int], plain: np.ndarray, t: int) -> np.ndarray:
    """p(w) for all w at position t: hs[i] is the output before tokens[i]."""
    scores = np.zeros(V)
    for i in range(max(0, t - cache.window), t):
        scores[tokens[i]] += np.exp(cache.theta * hs[t] @ hs[i])
    if not t:
        return plain[t]
    return (1 - cache.share) * plain[t] + cache.share * scores / scores.sum()


def drawn(steps: int, seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    hs = torch.randn(steps, H, generator=generator)
    tokens = torch.randint(V, (steps,), generator=generator)
    return hs, tokens, torch.randn(steps, V, generator=generator).softmax(-1)


@given(window=st.integers(1, 9), cut=st.integers(1, 10), steps=st.integers(1, 12), seed=st.integers(0, 9))
def test_costs_are_those_of_the_formula_however_the_text_is_cut(
    window: int, cut: int, steps: int, seed: int
) -> None:
    cache = Cache(window=window, theta=0.7, share=0.3)
    hs, tokens, plain = drawn(steps, seed)
    memory, found = cache.begin(hs[:1]), []
    for start in range(0, steps, cut):
        here = slice(start, start + cut)
        cost = -plain[here].gather(1, tokens[here, None])[:, 0].log()
        memory, nll = cache.nll(memory, hs[None, here], tokens[None, here], cost[None])
        found += nll[0].tolist()
    expected = [
        -np.log(slow(cache, hs.double().numpy(), tokens.tolist(), plain.double().numpy(), t)[w])
        for t, w in enumerate(tokens.tolist())
    ]
    assert found == pytest.approx(expected, rel=1e-4)
    assert memory.tokens.shape == (1, window)


def test_without_a_share_a_cache_changes_nothing() -> None:
    hs, tokens, plain = drawn(5, 0)
    cache, costs = Cache(window=3, share=0.0), torch.rand(1, 5)
    _, found = cache.nll(cache.begin(hs[:1]), hs[None], tokens[None], costs)
    assert torch.equal(found, costs)
    read = hs[None], tokens[None]
    _, log_probs = cache.log_probabilities(cache.begin(hs[:1]), hs[None], plain[None].log(), read)
    assert torch.equal(log_probs[0], plain.log())


def lm_of_letters() -> LanguageModel:
    torch.manual_seed(0)
    model = LanguageModelConfig(hidden=8, embedding=8, layers=2)
    return LanguageModel.from_examples(model, TokenizerConfig(kind="whitespace"), ["a b c d e f g h"])


@given(cuts=st.lists(st.integers(1, 6), min_size=1, max_size=5), window=st.integers(1, 12))
def test_read_piece_by_piece_a_text_costs_what_its_evaluation_says(cuts: list[int], window: int) -> None:
    lm, cache = lm_of_letters(), Cache(window=window, theta=3.0, share=0.4)
    lm.net.eval()
    net = with_cache(lm, cache).net
    ids = torch.randint(4, 12, (1, sum(cuts)))
    state, before, total = net.begin(1), torch.tensor([[lm.end]]), 0.0
    for piece in ids.split(cuts, 1):
        state, said = net.read(state, torch.cat((before, piece[:, :-1]), 1))
        torch.testing.assert_close(said.exp().sum(-1), torch.ones_like(said[..., 0]))
        total += net.output.nll(said, piece).sum().item()
        before = piece[:, -1:]
        state = from_bytes(to_bytes(state))  # as streams are put aside
    data = LanguageModelDataset(ids[0].numpy().astype(np.uint16), None)
    assert total == pytest.approx(lm.nll(data, cache=cache), rel=1e-4)


def test_rows_that_end_early_remember_only_their_own() -> None:
    lm = lm_of_letters()
    lm.net.eval()
    net = with_cache(lm, Cache(window=6, theta=3.0, share=0.4)).net
    ids, mask = torch.randint(4, 12, (3, 5)), torch.arange(5) < torch.tensor([[5], [3], [0]])
    token = torch.tensor([7])
    state, _ = net.read(net.begin(3), ids, mask)
    _, found = net.step(state, token.expand(3))
    for row, length in ((0, 5), (1, 3)):
        alone, _ = net.read(net.begin(1), ids[row : row + 1, :length])
        torch.testing.assert_close(found[row : row + 1], net.step(alone, token)[1])
    torch.testing.assert_close(found[2:], net.step(net.begin(1), token)[1])
    begun, _ = net.read(net.begin(1), ids[:1, :1])
    nothing, _ = net.read(begun, ids[:1, :2], torch.zeros(1, 2, dtype=torch.bool))
    torch.testing.assert_close(net.step(nothing, token)[1], net.step(begun, token)[1])
    assert isinstance(with_cache(lm, Cache()), LMPredictor)


def test_rows_do_not_see_each_other() -> None:
    cache = Cache(window=4)
    rows = [drawn(8, seed) for seed in (1, 2)]
    hs, tokens = torch.stack([r[0] for r in rows]), torch.stack([r[1] for r in rows])
    costs = torch.rand(2, 8)
    _, both = cache.nll(cache.begin(hs[:, 0]), hs, tokens, costs)
    for i in range(2):
        here = slice(i, i + 1)
        _, alone = cache.nll(cache.begin(hs[here, 0]), hs[here], tokens[here], costs[here])
        torch.testing.assert_close(both[here], alone)


def test_a_text_that_repeats_itself_is_cheaper_with_a_cache() -> None:
    lm = LanguageModel.from_examples(
        LanguageModelConfig(hidden=8, layers=1), TokenizerConfig(), ["a b c d e f g h"]
    )
    data = lm.encode(["c a h"] * 20)
    plain = lm.evaluate_dataset(data)["perplexity"]
    remembered = lm.evaluate_dataset(data, cache=Cache(window=50, theta=50.0, share=0.5))
    assert remembered["perplexity"] < 0.7 * plain
    assert remembered["tokens"] == 80
    in_rows = LanguageModelDataset(data.ids, data.characters, rows=2)
    assert lm.evaluate_dataset(in_rows, cache=Cache(theta=50.0, share=0.5))["perplexity"] < 0.7 * plain


@pytest.mark.parametrize("options", [{"window": 0}, {"share": -0.1}, {"share": 1.0}])
def test_settings_without_sense_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        Cache(**options)


def test_whole_texts_are_scored_written_and_completed_with_the_cache() -> None:
    lm, cache = lm_of_letters(), Cache(window=20, theta=3.0, share=0.9)
    text = " ".join("cah" * 6)
    assert float(lm.score(text, cache=cache)) > float(lm.score(text))
    best = lm.complete(f"{text} ", k=1, cache=cache)[0]
    assert best.text.split()[-1] in "cah"
    (written,) = lm.generate(text, Greedy(), cache=cache)
    assert set(written.text.split()[-1:]) <= set("cah")
    stream = lm.stream(cache=cache)
    stream.feed(f"{text} ")
    assert stream.next(1)[0].probability > 0.3
