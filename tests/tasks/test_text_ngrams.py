"""A language model with counted n-grams beside it has one probability, wherever it is asked for it."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import elman
from elman.decoding import Greedy
from elman.errors import ModelError
from elman.generation.cache import Cache
from elman.generation.dynamic_eval import DynamicEval
from elman.layers.ngram_mixture import MixtureCosts
from elman.tasks.language_model import LanguageModel
from elman.tasks.language_model.text_ngrams import count_ngrams_of, mix_best
from tests.tasks.toy_lm import LINES, next_probabilities, real

TEXT = ["the end of a time", "once upon a time the end", "don't go upon a tide"]
SHARE = 0.3


def mixed(kind: str = "words", share: float = SHARE, order: int = 4) -> LanguageModel:
    model = real(kind)
    model.config = replace(model.config, ngrams=order)
    [model.net.ngrams] = count_ngrams_of(model, model.encode(LINES))
    model.net.ngrams.double()
    model.net.ngrams.share.fill_(share)
    return model


def ids_of(model: LanguageModel, line: str) -> list[int]:
    return [*model.tokenizer.encode(line), model.end]


def test_the_mixture_is_that_of_its_parts_and_sums_to_one() -> None:
    model = mixed()
    parts = [mixed(share=share) for share in (1.0, 0.0)]
    ids = ids_of(model, "once upon a go the")
    for t in range(len(ids)):
        network, counted = (torch.tensor(next_probabilities(part, ids[:t])) for part in parts)
        found = torch.tensor(next_probabilities(model, ids[:t]))
        torch.testing.assert_close(found, SHARE * network + (1 - SHARE) * counted)
        assert float(found.sum()) == pytest.approx(1)


def test_all_or_nothing_of_it_is_the_network_or_the_ngrams() -> None:
    model, line = mixed(share=1.0), "the tide upon time"
    own, counted = model.score(line).log_probability, model.net.ngrams
    model.net.ngrams = None
    assert own == pytest.approx(model.score(line).log_probability)
    model.net.ngrams = counted
    counted.share.zero_()
    alone = counted.ngrams.text_nll(torch.tensor(ids_of(model, line)).numpy(), model.end)
    assert model.score(line).log_probability == pytest.approx(-float(alone.sum()))


@pytest.mark.parametrize("precision", [torch.float16, torch.bfloat16])
def test_halves_know_the_same_contexts(precision: torch.dtype) -> None:
    model = mixed()
    exact = [model.score(line).log_probability for line in TEXT]
    model.net.to(precision)
    assert [model.score(line).log_probability for line in TEXT] == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("kind", ["words", "chars", "bpe"])
def test_scored_evaluated_streamed_and_stepped_it_costs_the_same(kind: str) -> None:
    model = mixed(kind)
    by_steps = 0.0
    ids = [i for line in TEXT for i in ids_of(model, line)]
    for t, i in enumerate(ids):
        by_steps += math.log(next_probabilities(model, ids[:t])[i])
    assert -model.nll(model.encode(TEXT), window=7) == pytest.approx(by_steps)
    assert model.score("\n".join(TEXT)).log_probability == pytest.approx(by_steps)
    assert math.exp(-by_steps / len(ids)) == pytest.approx(model.perplexity(TEXT))
    stream = model.stream()
    for line in TEXT:
        stream.feed(line[:5])
        stream = type(stream).from_bytes(model, stream.to_bytes())
        stream.feed(line[5:] + "\n")
    assert stream.log_probability == pytest.approx(by_steps)


def test_texts_of_different_lengths_are_scored_as_alone() -> None:
    model = mixed()
    together = model.scores([*TEXT, "a"])
    for line, found in zip([*TEXT, "a"], together, strict=True):
        assert found.log_probs == pytest.approx(model.score(line).log_probs)


def test_what_it_writes_has_the_probability_that_scoring_gives_it() -> None:
    model = mixed("chars")
    for written in (*model.generate("o", n=3, max_tokens=12), *model.generate("o", Greedy(), max_tokens=12)):
        ids = model.tokenizer.encode(written.text)[1:]
        before = model.tokenizer.encode("o")
        expected = [math.log(next_probabilities(model, before + ids[:t])[i]) for t, i in enumerate(ids)]
        assert written.log_probs[: len(ids)] == pytest.approx(expected)


def test_completions_have_the_mixed_probabilities_of_the_words_that_begin_so() -> None:
    model = mixed()
    found = model.complete("once upon a ti")
    p = next_probabilities(model, model.tokenizer.encode("once upon a"))
    words = {w: p[i] for i, w in enumerate(model.tokenizer.items) if w.startswith("ti")}
    expected = {w: q / sum(words.values()) for w, q in words.items()}
    assert {one.text: one.probability for one in found} == pytest.approx(expected)


def test_a_cache_compares_what_the_network_says() -> None:
    model, cache = mixed(), Cache(window=20, theta=0.3, share=0.2)
    stream = model.stream(cache=cache)
    stream.feed("\n".join(TEXT) + "\n")
    assert stream.log_probability == pytest.approx(model.score("\n".join(TEXT), cache=cache).log_probability)
    with_all = mixed(share=1.0)
    found = with_all.score(TEXT[1], cache=cache).log_probability
    with_all.net.ngrams = None
    assert found == pytest.approx(with_all.score(TEXT[1], cache=cache).log_probability)


def test_the_weights_of_the_network_alone_follow_a_text() -> None:
    model = mixed()
    before = {name: b.clone() for name, b in model.net.named_buffers()}
    dynamic = DynamicEval(rate=0.1, steps=3, warm=1)
    assert model.score("\n".join(TEXT), dynamic=dynamic) != model.score("\n".join(TEXT))
    assert all(torch.equal(b, before[name]) for name, b in model.net.named_buffers())


def test_the_share_is_the_one_that_makes_a_text_likeliest() -> None:
    mixture = mixed().net.ngrams
    # Each token is one that the network is sure of, or one that the n-grams are sure of.
    network = torch.rand(40_000, generator=torch.Generator().manual_seed(0)) < SHARE
    high, low = -math.log(0.999), -math.log(0.001)
    mixture.fit_share(MixtureCosts(torch.where(network, high, low), torch.where(network, low, high)))
    assert float(mixture.share) == pytest.approx(SHARE, abs=0.01)


RECIPE = {
    "task": "lm",
    "tokens": {"kind": "whitespace"},
    "model": {"hidden": 8, "embedding": 8, "layers": 1, "ngrams": 3},
    "training": {"epochs": 2},
}


def write_text(folder: Path, name: str = "text.txt", words: str = "a b c d") -> Path:
    generator = torch.Generator().manual_seed(len(words))
    kinds = words.split()
    lines = [
        " ".join(kinds[int(i)] for i in torch.randint(0, len(kinds), (9,), generator=generator))
        for _ in range(80)
    ]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def train(folder: Path, text: Path, out: str, **options) -> LanguageModel:
    recipe = {**RECIPE, "data": {"train": str(text), "cache": str(folder / "cache")}}
    model = elman.train(recipe, folder / out, device="cpu", **options)
    assert isinstance(model, LanguageModel)
    return model


def test_a_trained_model_is_saved_and_loaded_with_its_ngrams(tmp_path: Path) -> None:
    model = train(tmp_path, write_text(tmp_path), "out")
    loaded = elman.load(tmp_path / "out", LanguageModel, device="cpu")
    assert loaded.net.ngrams is not None
    assert loaded.score("a b c").log_probs == model.score("a b c").log_probs
    assert "n-grams" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(ModelError, match=r"n-grams.*model\.ngrams=0"):
        loaded.blueprint()


def test_the_perplexity_of_a_run_is_that_of_the_model_it_delivers(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    model = train(tmp_path, text, "out", set=[f"data.valid={text}"])
    valid = model.record.metrics["valid"]["perplexity"]
    assert model.evaluate_dataset(model.encode(text.read_text().splitlines()))["perplexity"] == pytest.approx(
        valid
    )
    model.net.ngrams = None
    assert model.perplexity(text.read_text().splitlines()) > valid


def test_validation_may_read_the_beginning_and_the_end_scores_all(tmp_path: Path) -> None:
    text = write_text(tmp_path)
    some = ["data.eval_tokens=50", f"data.valid={text}", "model.ngrams=0"]
    model = train(tmp_path, text, "out", set=some)
    valid = model.record.metrics["valid"]
    assert valid["tokens"] == 800
    dataset = model.encode_valid(model.record.data, model.read(model.record.data, str(text)))
    assert model.validate(dataset)["tokens"] == 50


def test_training_on_keeps_the_ngrams_that_suit_the_validation_text_better(tmp_path: Path) -> None:
    old, new = write_text(tmp_path), write_text(tmp_path, "new.txt", "a b b b b e")
    first = train(tmp_path, old, "first")
    for valid, suits in ((old, True), (new, False)):
        options = {"set": [f"data.valid={valid}"], "init": tmp_path / "first"}
        model = train(tmp_path, new, f"second{suits}", **options)
        assert "e" in model.tokenizer.items
        wide = first.net.ngrams.ngrams.widen(model.net.vocabulary)
        same = wide.count == model.net.ngrams.ngrams.count and torch.equal(
            wide.shares_1, model.net.ngrams.ngrams.shares_1
        )
        assert same == suits


def test_further_tokens_leave_the_ngrams_a_distribution() -> None:
    model = mixed()
    wide = model.net.ngrams.widen(model.net.vocabulary + 5)
    contexts = wide.ngrams.follow(wide.ngrams.begin(1), torch.tensor([ids_of(model, TEXT[0])]))
    p = wide.ngrams.probabilities(contexts)
    torch.testing.assert_close(p.sum(-1), torch.ones(p.shape[:-1], dtype=p.dtype))
    assert torch.equal(
        contexts,
        model.net.ngrams.ngrams.follow(
            model.net.ngrams.ngrams.begin(1), torch.tensor([ids_of(model, TEXT[0])])
        ),
    )


def test_an_update_sees_no_ngrams(tmp_path: Path) -> None:
    model = mixed()
    data = model.encode(LINES)
    model.fit_statistics(data)
    assert model.net.ngrams is None
    assert len(model.counted) == 2
    for one in model.counted:
        one.double()
    found = model.validate(data)["nats_per_token"] * len(data)
    assert model.net.ngrams is None
    assert found == pytest.approx(mix_best(model, model.counted, data))
