"""Language models and decoding of the lectures, row by row, against a network in numpy and against lists."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
import torch

from elman.decoding import Beam, Greedy
from elman.generation import GenerationConfig, Sampling, complete, generate, score, scores, trace_beam
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.task import BPTTBatch, LanguageModel, LanguageModelConfig
from elman.text.vocab import EOS

LINES = ["once upon a time", "once up a tide", "the upper tide"]
LIMIT = 4


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    return made("words", LINES)


def made(kind: str, lines: list[str]) -> LanguageModel:
    torch.manual_seed(1)
    options = LanguageModelConfig(cell="elman", hidden=5, embedding=4, layers=1, tied=False, dropout=0.0)
    model = LanguageModel.from_examples(options, TokenizerConfig(kind=kind), lines)
    for weight in model.net.parameters():
        torch.nn.init.normal_(weight)
    model.net.double().eval()
    return model


class Plain:
    """y_t = softmax(V h_t + c), h_t = tanh(W e(w_t) + U h_{t-1} + b), h_0 = 0, in numpy; w_0 is the end."""

    def __init__(self, model: LanguageModel) -> None:
        weights = {name: w.detach().numpy() for name, w in model.net.named_parameters()}
        self.E, self.V, self.c = (weights[n] for n in ("embed.E.weight", "softmax.own", "softmax.b"))
        cell = {name.rpartition("cell.")[2]: w for name, w in weights.items() if "cell." in name}
        self.W, self.U, self.b, self.end = cell["W"], cell["U.0"], cell["b"], model.end
        self.after = cache(self._after)

    def _after(self, ids: tuple[int, ...]) -> np.ndarray:
        h = np.zeros(len(self.b))
        for token in (self.end, *ids):
            h = np.tanh(self.W @ self.E[token] + self.U @ h + self.b)
        weights = np.exp(self.V @ h + self.c)
        return weights / weights.sum()

    def log_prob(self, ids: tuple[int, ...]) -> float:
        return sum(math.log(self.after(ids[:i])[token]) for i, token in enumerate(ids))

    def texts(self) -> list[tuple[int, ...]]:
        """Every text of known words that has ended, or has LIMIT tokens."""
        words = range(4, len(self.c))
        ended = ((*head, EOS) for n in range(LIMIT) for head in itertools.product(words, repeat=n))
        return [*ended, *itertools.product(words, repeat=LIMIT)]


def test_row_27_the_loss_is_minus_log_y_t_of_the_next_word(lm):
    ids = [*lm.tokenizer.encode("once upon a tide"), EOS]
    row = torch.tensor([[EOS, *ids]])
    batch = BPTTBatch(row[:, :-1], row[:, 1:], torch.ones(1, len(ids), dtype=torch.bool), len(ids))
    plain = Plain(lm)
    expected = [-math.log(plain.after(tuple(ids[:t]))[ids[t]]) for t in range(len(ids))]
    assert lm.loss(batch, 0.0).item() == pytest.approx(np.mean(expected))


def test_row_28_the_probability_of_a_string_is_a_product_from_its_beginning_to_its_end(lm):
    for text in ("once upon a time", "tide", ""):
        ids = (*lm.tokenizer.encode(text), EOS)
        assert float(score(lm, text)) == pytest.approx(Plain(lm).log_prob(ids))
        product = np.prod([Plain(lm).after(ids[:i])[token] for i, token in enumerate(ids)])
        assert math.exp(float(score(lm, text))) == pytest.approx(product)


def test_row_29_perplexity_is_the_inverse_probability_of_a_token_on_geometric_average(lm):
    texts = ["once upon a time", "the tide"]
    ids = [token for text in texts for token in (*lm.tokenizer.encode(text), EOS)]
    p = [Plain(lm).after(tuple(ids[:i]))[token] for i, token in enumerate(ids)]
    assert lm.perplexity(texts) == pytest.approx(np.prod(p) ** (-1 / len(p)))
    one = (*lm.tokenizer.encode(texts[0]), EOS)
    expected = math.exp(-Plain(lm).log_prob(one) / len(one))
    assert scores(lm, texts)[0].perplexity == pytest.approx(expected)


def test_row_30_generation_feeds_back_what_it_wrote_until_the_end(lm):
    for seed in range(5):
        [text] = generate(lm, strategy=Sampling(seed=seed), config=GenerationConfig(max_tokens=200))
        ids = (*lm.tokenizer.encode(text.text), *[EOS] * text.ended)
        expected = [math.log(Plain(lm).after(ids[:i])[token]) for i, token in enumerate(ids)]
        assert text.log_probs == pytest.approx(expected)


def test_row_31_completions_are_ranked_also_in_mid_word(lm):
    y = Plain(lm).after(tuple(lm.tokenizer.encode("once")))
    begun = {word: y[i] for i, word in enumerate(lm.tokenizer.items) if word.startswith("up")}
    found = complete(lm, "once up")
    assert [one.text for one in found] == sorted(begun, key=lambda word: -begun[word])
    expected = [begun[one.text] / sum(begun.values()) for one in found]
    assert [one.probability for one in found] == pytest.approx(expected)
    assert [one.text for one in complete(lm, "once upo")] == ["upon"]


def test_row_31_completions_of_characters_end_with_their_word():
    lm = made("chars", LINES)
    typed = tuple(lm.tokenizer.encode("once up"))
    ends = [*lm.tokenizer.encode(" "), lm.end]
    for one in complete(lm, "once up", 3):
        ids, log_prob = typed, 0.0
        for token in lm.tokenizer.encode(one.rest):
            log_prob += math.log(_written(Plain(lm).after(ids))[token])
            ids = (*ids, token)
        expected = math.exp(log_prob) * sum(_written(Plain(lm).after(ids))[ends])
        assert one.probability == pytest.approx(expected)


def _written(y: np.ndarray) -> np.ndarray:
    """Without the special tokens, which no text has."""
    y = np.where(np.arange(len(y)) < 4, 0.0, y)
    return y / y.sum()


def test_row_56_greedy_takes_the_likeliest_word_of_each_step(lm):
    ids: tuple[int, ...] = ()
    while len(ids) < LIMIT and EOS not in ids:
        y = Plain(lm).after(ids)
        y[:3] = 0  # no text
        ids = (*ids, int(y.argmax()))
    [text] = generate(lm, strategy=Greedy(), config=GenerationConfig(max_tokens=LIMIT))
    assert text.text == lm.tokenizer.decode(ids)


def test_row_57_samples_come_as_often_as_they_are_probable(lm):
    n = 4000
    texts = generate(lm, strategy=Sampling(seed=0), n=n, config=GenerationConfig(max_tokens=1))
    y = Plain(lm).after(())
    y = np.where(np.arange(len(y)) < 3, 0, y) / y[3:].sum()
    for i in range(3, len(y)):
        word = "" if i == EOS else lm.tokenizer.items[i]
        share = sum(text.text == word for text in texts) / n
        assert abs(share - y[i]) < 4 * math.sqrt(y[i] * (1 - y[i]) / n) + 1e-3


def listed(lm, width: int, factor: float = math.inf, narrow: bool = False):
    """Beam search as the lectures say it, with lists."""
    plain, live, places, completed = Plain(lm), [((), 0.0)], width, []
    for length in range(1, LIMIT + 1):
        grown = [
            ((*ids, token), score + math.log(plain.after(ids)[token]))
            for ids, score in live
            for token in range(3, len(plain.c))
        ]
        grown.sort(key=lambda pair: -pair[1])
        kept = [way for way in grown if way[1] >= grown[0][1] - math.log(factor)][:places]
        ended = [way for way in kept if way[0][-1] == EOS or length == LIMIT]
        completed += ended
        live = [way for way in kept if way not in ended]
        places -= len(ended) if narrow else 0
        if not live or not places:
            break
    return sorted(completed, key=lambda pair: -pair[1])


def best(lm, beam: Beam):
    return generate(lm, strategy=beam, config=GenerationConfig(max_tokens=LIMIT))


@pytest.mark.parametrize("width", [1, 2, 3, 5, 10])
def test_row_58_a_beam_keeps_the_k_best_of_each_length(lm, width):
    [text] = best(lm, Beam(width=width, narrow=False, length_penalty=0.0))
    ids, log_prob = listed(lm, width)[0]
    assert text.text == lm.tokenizer.decode(ids)
    assert text.score == pytest.approx(log_prob)


def test_row_58_a_beam_that_keeps_all_finds_the_likeliest_text(lm):
    [text] = best(lm, Beam(width=10**4, narrow=False, length_penalty=0.0))
    likeliest = max(Plain(lm).texts(), key=Plain(lm).log_prob)
    assert text.text == lm.tokenizer.decode(likeliest)


@pytest.mark.parametrize("factor", [1.0, 2.0, 5.0, 50.0, 1e9])
def test_row_59_a_beam_of_variable_width_keeps_what_is_within_a_factor_of_the_best(lm, factor):
    [text] = best(lm, Beam(width=8, factor=factor, narrow=False, length_penalty=0.0))
    ids, log_prob = listed(lm, 8, factor)[0]
    assert text.text == lm.tokenizer.decode(ids)
    assert text.score == pytest.approx(log_prob)
    for event, _ in trace_beam(
        lm, "", Beam(width=8, factor=factor, length_penalty=0.0), config=GenerationConfig(max_tokens=LIMIT)
    ):
        chances = [math.exp(way.score) for way in event.kept]
        assert all(p * factor >= max(chances) * (1 - 1e-9) for p in chances)


@pytest.mark.parametrize("width", [2, 3, 5, 10])
@pytest.mark.parametrize(
    "end", [0.0, 4.0, 5.0]
)  # added to the score of the end: texts of one length, or of all
def test_row_60_the_beam_narrows_with_each_completed_text(width, end):
    lm = made("words", LINES)
    lm.net.softmax.b.data[EOS] += end
    beam = Beam(width=width, length_penalty=0.0, n_best=width)
    found = [(text.text, text.score) for text in best(lm, beam)]
    expected = listed(lm, width, narrow=True)
    assert [text for text, _ in found] == [lm.tokenizer.decode(ids) for ids, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected])
    places, widths = width, []
    for event, _ in trace_beam(lm, "", beam, config=GenerationConfig(max_tokens=LIMIT)):
        assert event.width == places
        widths.append(places)
        places -= event.completed
    if end:  # it narrows at once, and where there is room for it again and again
        assert len(set(widths)) >= min(width - 1, 3), widths
