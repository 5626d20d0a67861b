"""Where the options of a language model arrive, what validates it, and in which windows a text is read."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from elman.cells import Dropout, Mogrifier, Residual, WeightDrop, Zoneout
from elman.errors import DataError
from elman.layers.mixture import Mixture
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.corpus import TextCorpus, read_corpus
from elman.tasks.language_model.tables import is_table
from elman.tasks.language_model.task import (
    BPTTBatch,
    LanguageModel,
    LanguageModelConfig,
    LanguageModelDataConfig,
    LanguageModelDataset,
)
from elman.text.tables import InMemory
from tests.tasks.toy_lm import real

WORDS = [" ".join(f"w{i}" for i in range(64))]


def made(lines: list[str] = WORDS, kind: str = "words", **options: Any) -> LanguageModel:
    config = LanguageModelConfig(**({"hidden": 16, "embedding": 8, "layers": 3} | options))
    return LanguageModel.from_examples(config, TokenizerConfig(kind=kind), lines)


def find(net: nn.Module, kind: type[nn.Module]) -> list[Any]:
    return [module for module in net.modules() if isinstance(module, kind)]


def test_each_dropout_has_its_place_and_the_others_are_as_the_one():
    net = made(
        dropout=0.1, input_dropout=0.2, layer_dropout=0.3, weight_drop=0.4, zoneout=0.125, word_dropout=0.5
    ).net
    assert (net.drop_input.p, net.drop.p, net.word_dropout) == (0.2, 0.1, 0.5)
    assert [cell.p for cell in find(net, Dropout)] == [0.3, 0.3], "between layers, not after the last"
    assert [cell.p for cell in find(net, WeightDrop)] == [0.4] * 3
    assert [cell.p for cell in find(net, Zoneout)] == [{"h": 0.125, "c": 0.125}] * 3
    net = made(dropout=0.1, input_dropout=0.0).net
    assert (net.drop_input.p, [cell.p for cell in find(net, Dropout)]) == (0.0, [0.1, 0.1])
    assert not find(net, Zoneout)
    assert made(dropout=0.1).net.drop_input.p == 0.1


def test_gates_before_each_step_are_as_many_and_as_narrow_as_asked():
    net = made(mogrifier_rounds=3, mogrifier_rank=2, layers=2, hidden=8).net
    assert [len(cell.gates) for cell in find(net, Mogrifier)] == [3, 3]
    assert all(first.out_features == 2 for cell in find(net, Mogrifier) for first, _ in cell.gates)
    assert not find(made().net, Mogrifier)


def test_the_softmax_is_the_one_that_was_asked_for():
    (mixture,) = find(made(mixtures=3, mixture_dropout=0.25).net, Mixture)
    assert (mixture.count, mixture.dropout) == (3, 0.25)
    assert made(softmax_samples=9).net.softmax.samples == 9
    clusters = made(softmax="adaptive", tied=False).net.softmax.clusters
    assert clusters.cutoffs == [68 // 16, 68 // 4, 68]
    assert made(softmax="adaptive", tied=False, cutoffs=(30,)).net.softmax.clusters.cutoffs == [30, 68]
    tiny = made(["a"], softmax="adaptive", tied=False).net.softmax.clusters
    assert tiny.cutoffs == [1, 2, 5]
    tied, own = made().net, made(tied=False).net
    assert not any(weight.shape == (68, 16) for weight in tied.parameters())
    assert sum(len(w) == 68 for w in own.parameters()) > sum(len(w) == 68 for w in tied.parameters())


def test_layers_may_add_to_what_they_read_and_the_last_may_be_narrower():
    assert len(find(made(residual=True).net, Residual)) == 2
    assert [layer.output_size for layer in made(last_hidden=8).net.layers.stack] == [16, 16, 8]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, ["tokens: 68, 8 features each", "network: lstm, layers of 16-16-16 units, tied full softmax"]),
        (
            {"mogrifier_rounds": 2, "mixtures": 3, "tied": False, "layers": 1, "cell": "gru"},
            [
                "tokens: 68, 8 features each",
                "network: gru after 2 rounds of gating, layers of 16 units, full softmax, 3 of them mixed",
            ],
        ),
    ],
)
def test_the_card_says_what_it_is_made_of(options, said):
    assert made(**options).card_info().facts == said


def test_the_card_says_what_was_counted():
    model = made(["a b a b a"] * 9, ngrams=2, layers=1)
    data = model.encode(["a b a b a"] * 9)
    model.fit_statistics(data)
    model.calibrate(data)
    (said,) = (fact for fact in model.card_info().facts if fact.startswith("n-grams: "))
    # The tokens a, b and </s>; and a b, b a, a </s> and </s> a.
    assert said.startswith("n-grams: 7 of 1 to 2 tokens, Kneser-Ney; the network has the share 0")


def text(tokens: int, **options: Any) -> LanguageModelDataset:
    ids = np.random.default_rng(0).integers(4, 9, tokens).astype(np.uint16)
    return LanguageModelDataset(ids, None, **options)


@pytest.mark.parametrize(("tokens", "rows"), [(100, 1), (3999, 1), (4000, 2), (9000, 3)])
def test_a_text_to_validate_on_is_read_in_streams_of_two_thousand_tokens_at_most_so_many(tokens, rows):
    model = real("words")
    lines = TextCorpus((InMemory.hold(["once"] * (tokens // 2)),))
    found = model.encode_valid(LanguageModelDataConfig(eval_streams=3, eval_tokens=70), lines)
    assert (found.rows, found.head, len(found)) == (rows, 70, 2 * (tokens // 2))
    assert model.encode_valid(LanguageModelDataConfig(), None) is None


def test_the_beginning_of_a_text_validates_and_all_of_it_is_scored_at_last():
    model = real("words")
    whole = text(4100, rows=2, head=2500)
    expected = model.evaluate_dataset(replace(whole, ids=whole.ids[:2500], rows=1, head=0))
    assert model.validate(whole) == expected
    assert expected["tokens"] == 2500
    assert model.calibrate(whole) == model.evaluate_dataset(replace(whole, head=0))
    for head in (0, 4100, 5000):
        assert model.validate(replace(whole, head=head))["tokens"] == 4100
    assert model.calibrate(replace(whole, head=0)) == {}
    assert model.calibrate(None) == {}


@pytest.mark.parametrize(
    ("window", "lengths"), [(100, [10]), (10, [10]), (9, [5, 5]), (6, [5, 5]), (4, [4, 4, 2]), (1, [1] * 10)]
)
def test_windows_are_as_like_in_length_as_can_be(window, lengths):
    model = real("words")
    assert [len(costs) for costs in model.token_costs(text(10), window=window)] == lengths
    both = [len(costs) for costs in model.token_costs(text(20, rows=2), window=2 * window)]
    assert both == [2 * length for length in lengths]


def test_a_text_that_is_too_unlikely_for_a_number_has_an_infinite_perplexity():
    model, data = real("words"), text(10)
    scores = model.score_costs(data, 10 * 690.0)
    assert scores["perplexity"] == math.exp(690.0)
    assert (scores["nats_per_token"], scores["tokens"]) == (690.0, 10)
    assert model.score_costs(data, 10 * 720.0)["perplexity"] == math.inf
    assert "bits_per_character" not in scores


@pytest.mark.parametrize("steps", [1, 4])
def test_without_two_steps_that_count_nothing_changes_suddenly(steps):
    ids, mask = torch.tensor([[4, 5, 6, 7]])[:, :steps], torch.arange(steps)[None] == 0
    losses = []
    for penalty in (0.0, 3.0):
        torch.manual_seed(0)
        model = made(["a b c d e f"], temporal_penalty=penalty, dropout=0.0, layers=1)
        losses.append(model.loss(BPTTBatch(ids, ids, mask, 1.0), 0.0))
    assert torch.equal(*losses)
    assert losses[0].isfinite()


def test_rows_in_memory_are_lines_only_if_all_are():
    data = LanguageModelDataConfig()
    held = [InMemory.hold(rows) for rows in (["a", "b"], ["a", ("b",)], [{"text": "a"}])]
    assert [is_table(data, source) for source in held] == [False, True, True]
    assert [is_table(data, name) for name in ("a.txt", "a.tsv", "a.txt.gz")] == [False, True, False]
    assert is_table(LanguageModelDataConfig(format="tsv"), "a.txt")
    assert not is_table(LanguageModelDataConfig(format="lines"), "a.tsv")


def lines_of(corpus: TextCorpus) -> list[str]:
    return [*corpus.lines()]


def test_lines_in_memory_are_divided_joined_and_dealt():
    lines = [f"line {i}" for i in range(7)]
    corpus = TextCorpus((InMemory.hold(lines),))
    first, last = corpus.split(0.3)
    assert (lines_of(first), lines_of(last)) == (lines[:5], lines[5:])
    assert lines_of(first.join(last)) == lines
    cuts = [0, 2, 4, 7]
    for number in (1, 2, 3):
        rest, fold = corpus.take_fold(3, number)
        a, b = cuts[number - 1], cuts[number]
        assert (lines_of(fold), lines_of(rest)) == (lines[a:b], lines[:a] + lines[b:])
    assert lines_of(corpus.take_fold(7, 7)[1]) == lines[6:]
    with pytest.raises(DataError, match="8 folds cannot be made of 7 lines"):
        corpus.take_fold(8, 1)


def test_a_file_is_the_same_whatever_link_leads_to_it_and_rows_in_memory_are_none(tmp_path):
    path, link, other = tmp_path / "a", tmp_path / "b", tmp_path / "c"
    path.write_text("a\n")
    other.write_text("a\n")
    link.symlink_to(path)
    held = InMemory.hold(["a"])
    one = TextCorpus((str(path), held))
    assert one.same_files(TextCorpus((str(other), str(link), held))) == [str(link)]
    with pytest.warns(UserWarning, match="b: the test text is trained on, too"):
        LanguageModel.warn_of_overlap(one, TextCorpus((str(other),)), TextCorpus((str(link),)))
    with pytest.warns(UserWarning, match="b: the validation text is trained on, too"):
        LanguageModel.warn_of_overlap(one, TextCorpus((str(link),)), None)


@pytest.mark.parametrize("kind", ["words", "chars"])
@pytest.mark.parametrize("kept", [False, True])
def test_the_characters_of_a_text_are_known_of_all_of_it_and_of_parts_in_characters(tmp_path, kind, kept):
    path = tmp_path / "a.txt"
    path.write_text("ab cd\n" * 10)
    data = LanguageModelDataConfig(cache=str(tmp_path / "cache"))
    corpus = read_corpus(data, str(path), train=kept)
    model = made(["ab cd"], kind=kind)
    whole = model.encode(corpus)
    assert whole.characters == 60
    part = model.encode(replace(corpus, share=0.25))
    assert len(part) == len(whole) // 4
    assert part.characters == (15 if kind == "chars" else None)
    assert np.array_equal(part.ids, whole.ids[: len(part)])
    assert len(model.encode(replace(corpus, share=1e-9))) == 1
    if kept:
        half = model.encode(replace(corpus, begin=0.5))
        assert np.array_equal(half.ids, whole.ids[len(whole) // 2 :])
        assert half.characters == (30 if kind == "chars" else None)
