"""The simple models beside each task: what they know, how they are scored, how much they may cost."""

from __future__ import annotations

import re
from math import exp, log

import numpy as np
import pytest

from elman.errors import ConfigError
from elman.layers.kneser_ney import KneserNey
from elman.tasks.baseline_result import BaselineResult, choose_better, draw_part, name_part
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.label_baseline import join_texts
from elman.tasks.label_data import MultilabelExample
from elman.tasks.language_model import lm_baseline
from elman.tasks.pairs.task import Pairs, PairsConfig, PairsExample
from elman.tasks.seq2seq.seq2seq_baseline import find_nearest
from elman.tasks.tagger.tag_baseline import _MOVES, _bags, _weigh_moves, tag_by_frequency
from elman.tasks.tagger.tag_features import extract_features
from elman.tasks.tagger.task import Tagger, TaggerConfig, TaggerExample
from tests.tasks import toy_lm, toy_pairs
from tests.tasks.topics import TINY, examples, fresh


def tagged(*sentences: str) -> list[TaggerExample]:
    """Sentences like ``the/D dog/N``."""
    split = [[word.split("/") for word in sentence.split()] for sentence in sentences]
    return [TaggerExample(tuple(w for w, _ in s), (tuple(t for _, t in s),), where="toy:1") for s in split]


def test_the_better_of_two_is_chosen_by_the_metric():
    one, other = BaselineResult("one", {"a": 1.0, "b": 5.0}), BaselineResult("other", {"a": 2.0, "b": 6.0})
    assert choose_better([one, other], "a", "max") is other
    assert choose_better([one, other], "b", "min") is one


def test_a_part_of_the_examples_is_drawn_only_where_all_would_cost_too_much():
    assert [*draw_part(10, 100.0, 100.0)] == [*range(10)]
    part = draw_part(10, 100.0, 30.0)
    assert len({*part}) == 3
    assert {*part} <= {*range(10)}
    assert [*part] == sorted(part) == [*draw_part(10, 100.0, 30.0)]
    assert len(draw_part(10, 100.0, 0.0)) == 1
    assert name_part("words", 10, 10, "texts") == "words"
    assert name_part("words", 1000, 2000, "texts") == "words of 1,000 texts"


def test_a_bag_of_ngrams_finds_the_word_that_decides():
    model = fresh(200)
    found = model.baseline(model.encode(examples(200)), model.encode(examples(60, seed=1)), 5.0)
    assert (found.name, found.scores["accuracy"], found.seconds) == ("bag of n-grams", 100.0, 0.0)
    assert found.scores["examples"] == 60


def test_where_no_word_tells_anything_the_most_frequent_label_is_the_baseline():
    rows = [ClassifierExample("same words here", "often" if i % 5 else "rare") for i in range(200)]
    model = Classifier.from_examples(ClassifierConfig(**TINY), TokenizerConfig(), rows)
    found = model.baseline(model.encode(rows), model.encode(rows[:50]), 5.0)
    assert (found.name, found.scores["accuracy"]) == ("most frequent label", 80.0)


def test_several_labels_a_text_have_a_baseline_with_thresholds_of_its_own():
    rows = [
        MultilabelExample(e.text, tuple(dict.fromkeys((e.label, "all")))) for e in examples(200)
    ]  # every text has one label more
    model = Classifier.from_examples(ClassifierConfig(**TINY), TokenizerConfig(), rows)
    found = model.baseline(model.encode(rows[:150]), model.encode(rows[150:]), 5.0)
    assert (found.name, found.scores["micro_f1"]) == ("bag of n-grams", 100.0)


def test_the_models_own_ngrams_are_judged_alone_and_not_fitted_twice(monkeypatch):
    model = fresh(200, ngrams=True)
    training, valid = model.encode(examples(200)), model.encode(examples(60, seed=1))
    model.fit_statistics(training)
    monkeypatch.setattr("elman.tasks.label_baseline.fit_ngram_model", None)
    model.net.mix.copy_(model.net.mix.new_tensor([0.0, 1.0]))
    alone = model.evaluate_dataset(valid)["accuracy"]
    model.net.mix.copy_(model.net.mix.new_tensor([1.0, 0.0]))
    found = model.baseline(training, valid, 5.0)
    assert found.scores["accuracy"] == alone > model.evaluate_dataset(valid)["accuracy"]
    assert found.seconds == model.ngram_seconds > 0


def test_of_too_many_examples_a_part_is_fitted_to_and_that_is_said():
    model = fresh(200)
    found = model.baseline(model.encode(examples(200)), model.encode(examples(20, seed=1)), 0.02)
    assert found.name.startswith("bag of n-grams of ")
    assert 0 < int(found.name.split()[-2]) < 200


def test_words_that_two_texts_share_are_words_of_their_own():
    rows = [PairsExample(*["ab", "bc", "x"]), PairsExample("a b", "b c", "y")]
    model = Pairs.from_examples(PairsConfig(hidden=4, embedding=4), TokenizerConfig("whitespace"), rows)
    words = len(model.featurizer.tokenizer.items)
    data = model.encode(rows[1:])
    (joined,), forms = join_texts(data, words)
    a, b, c = model.featurizer.tokenizer.encode("a b c")
    assert forms.ids[joined].tolist() == [a, b, b + words, c + words, b + 2 * words]
    assert forms.ids[:: len(data.forms.ids)].tolist() == [0, 0, 0], "padding is padding on each side"


def test_a_bag_of_ngrams_sees_whether_two_texts_share_a_word():
    letters, dice = "abcdefghij", np.random.default_rng(0)
    rows = []
    for i in range(400):
        first, second = dice.choice([*letters], 2, replace=False)
        rows.append(PairsExample(first, first if i % 2 else second, "same" if i % 2 else "other"))
    model = Pairs.from_examples(PairsConfig(hidden=4, embedding=4), TokenizerConfig("whitespace"), rows)
    found = model.baseline(model.encode(rows[:300]), model.encode(rows[300:]), 5.0)
    assert (found.name, found.scores["accuracy"]) == ("bag of n-grams", 100.0)


def test_a_word_has_its_most_frequent_tag_and_an_unknown_one_that_of_its_ending():
    training = tagged("the/D dog/N barks/V", "a/D dog/V walks/V", "the/D dog/N sings/V", "we/P sing/V")
    model = Tagger.from_examples(TaggerConfig(hidden=4, embedding=4), TokenizerConfig(), training)
    asked = model.encode(tagged("The/D dog/N jumps/V", "xyz/N"))
    guesses = [*tag_by_frequency(model.encode(training), asked, model.tagsets[0], 0)]
    assert guesses[0] == ["D", "N", "V"]
    assert guesses[1] == ["V"]  # of all words the most frequent


def test_a_linear_model_tags_by_the_words_around():
    """``x`` is a verb after a noun and a noun after a verb, which no frequency tells."""
    dice = np.random.default_rng(0)
    rows = tagged(*(f"{'cat/N x/V' if dice.random() < 0.5 else 'see/V x/N'} ./." for _ in range(80)))
    model = Tagger.from_examples(TaggerConfig(hidden=4, embedding=4), TokenizerConfig(), rows)
    found = model.baseline(model.encode(rows[:60]), model.encode(rows[60:]), 5.0)
    assert (found.name, found.scores["accuracy"]) == ("linear model of words and affixes", 100.0)


def test_moves_between_tags_are_weighed_by_how_much_likelier_they_are_than_the_tag():
    begin, moves = _weigh_moves([np.array([0, 1, 1]), np.array([0])], 2)
    # Each count is one more: from the beginning 3 and 1, from 0 it is 1 and 2, from 1 it is 1 and 2.
    share = np.log(np.array([5, 5]) / 10)
    expected = _MOVES * (np.log([[1 / 3, 2 / 3], [1 / 3, 2 / 3]]) - share)
    np.testing.assert_allclose(begin, _MOVES * (np.log([3 / 4, 1 / 4]) - share), rtol=1e-6)
    np.testing.assert_allclose(moves, expected, rtol=1e-6)


def test_spans_of_the_baseline_are_well_formed_and_scored_as_the_models_are():
    rows = tagged(*["in/O New/B-LOC York/I-LOC now/O", "see/O Ann/B-PER today/O"] * 30)
    model = Tagger.from_examples(TaggerConfig(hidden=4, embedding=4), TokenizerConfig(), rows)
    found = model.baseline(model.encode(rows), model.encode(rows), 5.0)
    assert found.scores.keys() == model.validate(model.encode(rows)).keys()
    assert found.scores["f1"] == 100.0


def test_features_know_the_word_its_ending_and_its_neighbours_but_no_other_sentence():
    (a1, b1), (a2,), (_, a3) = np.split(extract_features(["ab", "a", "ba"], [[], [], []]), [2, 3])
    assert set(a1) & set(a2) > set(a1) & set(b1)  # the same word, another neighbour
    assert not np.array_equal(a1, a2)
    assert not np.array_equal(a2, a3)
    assert np.array_equal(extract_features(["a"], [[]])[0], extract_features(["a", "b"], [[], []])[0])


def list_forms(word: str) -> list[str]:
    """The word, its shape, its last one to four and its first one to three letters."""
    lower = word.lower()
    kinds = "".join("0" if c.isdigit() else "X" if c.isupper() else "x" if c.isalpha() else c for c in word)
    shape = re.sub(r"(.)\1{2,}", r"\1\1", kinds)
    return [lower, shape, *(lower[-n:] for n in (1, 2, 3, 4)), *(lower[:n] for n in (1, 2, 3))]


def test_a_feature_is_equal_where_what_it_looks_at_is_equal_and_only_there():
    sentences = [
        ["Ann", "saw", "ANNA", "in", "12-34", ".", "sawing", "Anna"],
        ["don't", "saw", "in", "Ann", "saw"],
        ["In", "saw"],
        ["ann"],
        ["1234", "Mr.", "saws", "banana", "annanna", "nanna"],
    ]
    expected = []
    for words in sentences:
        around = ["", "", *words, "", ""]
        for i in range(2, len(words) + 2):
            forms = {o: list_forms(around[i + o]) for o in range(-2, 3)}
            expected.append(
                [
                    *forms[0],
                    *(forms[o][f] for o in (-1, 1) for f in (0, 1, 4)),
                    *(forms[o][0] for o in (-2, 2)),
                    *((forms[o][0], forms[o + 1][0]) for o in (-1, 0)),
                ]
            )
    keys = extract_features(sentences, [[]] * len(sentences))
    assert keys.shape == (len(expected), len(expected[0]))
    for column, values in zip(keys.T, zip(*expected, strict=True), strict=True):
        assert len({*zip(column.tolist(), values, strict=True)}) == len({*values}) == len({*column.tolist()})
    kinds = [{*column.tolist()} for column in keys.T]
    assert len(set().union(*kinds)) == sum(map(len, kinds)), "keys of different features differ"


@pytest.mark.parametrize("known", [[], [3], [2, 3, 5], [9]])
def test_words_have_those_features_that_were_learnt(known):
    keys = np.array([[1, 3], [5, 9], [4, 4]])
    found = _bags(keys, np.array(known, dtype=np.int64))
    pairs = zip(found.rows.tolist(), found.columns.tolist(), strict=True)
    assert [(row, known[column]) for row, column in pairs] == [
        (row, key) for row, line in enumerate(keys.tolist()) for key in line if key in known
    ]
    assert (found.values.tolist(), found.texts) == ([1.0] * len(found.rows), 3)


def test_further_columns_are_features_too():
    plain = extract_features([["a", "b"]], [[]])
    read = extract_features([["a", "b"]], [[["X", "Y"]]])
    assert read.shape[1] == plain.shape[1] + 3


@pytest.mark.parametrize(("kind", "order"), [("words", 5), ("chars", 8)])
def test_ngrams_read_the_whole_text_in_one_go(kind, order, monkeypatch):
    monkeypatch.setattr(lm_baseline, "_CHUNK", 7)
    model = toy_lm.real(kind)
    training, valid = model.encode(toy_lm.LINES * 3), model.encode(["Once upon the end", "the tide"])
    found = model.baseline(training, valid, 5.0)
    assert found.name == f"Kneser-Ney {order}-grams"
    ngrams = KneserNey.fit(training.ids, len(model.tokenizer.items), order=order, first=model.end)
    mean = float(ngrams.text_nll(valid.ids, model.end).double().mean())
    assert found.scores["perplexity"] == pytest.approx(exp(mean), rel=1e-5)
    assert found.scores["bits_per_token"] == pytest.approx(mean / log(2), rel=1e-5)
    assert found.scores["tokens"] == len(valid)


def test_of_a_large_text_the_ngrams_of_its_end_are_counted(monkeypatch):
    monkeypatch.setattr(lm_baseline, "_MOST", 50)
    model = toy_lm.real("words")
    training = model.encode(toy_lm.LINES * 3)
    found = model.baseline(training, model.encode(toy_lm.LINES), 5.0)
    assert found.name == "Kneser-Ney 5-grams of 10 tokens"


def test_the_most_similar_source_shares_the_rarest_ngrams():
    known = [[1, 1, 1, 9], [1, 1, 2, 3], [5, 6, 7]]
    assert find_nearest(known, [[2, 3], [6, 7, 8], [9], [1, 2, 3]]) == [1, 2, 0, 1]


def test_the_most_similar_source_has_the_largest_cosine():
    """Of n-grams up to three tokens, each once, weighed by log((1 + N) / n), as counted out."""
    dice = np.random.default_rng(0)
    known, asked = ([dice.integers(4, size=dice.integers(1, 7)).tolist() for _ in range(n)] for n in (30, 40))

    def grams(tokens: list[int]) -> set[tuple[int, ...]]:
        return {tuple(tokens[i : i + n]) for n in (1, 2, 3) for i in range(len(tokens) - n + 1)}

    every = [grams(tokens) for tokens in known]
    idf = {g: log(31 / sum(g in some for some in every)) for g in set().union(*every)}

    def cosine(one: set[tuple[int, ...]], other: set[tuple[int, ...]]) -> float:
        return sum(idf[g] ** 2 for g in one & other) / sum(idf[g] ** 2 for g in other) ** 0.5

    for tokens, found in zip(asked, find_nearest(known, asked), strict=True):
        chances = [cosine(grams(tokens), other) for other in every]
        assert chances[found] == pytest.approx(max(chances))
    assert find_nearest(known, [[9]]) == [0]


def test_where_answers_equal_their_sources_to_copy_is_the_baseline():
    model = toy_pairs.made(metric="exact")
    training = model.encode(toy_pairs.task("copying", ["ab", "abc", "ca"]))
    found = model.baseline(training, model.encode(toy_pairs.task("copying", ["bc", "cb"])), 5.0)
    assert (found.name, found.scores["exact"]) == ("the source itself", 100.0)


def test_where_a_source_was_seen_its_answer_is_the_baseline():
    model = toy_pairs.made(metric="edit_rate")
    training = model.encode(toy_pairs.pairs(("abc", "xy"), ("cba", "y")))
    found = model.baseline(training, model.encode(toy_pairs.pairs(("cba", "y"), ("abc", "xy"))), 5.0)
    assert (found.name, found.scores["edit_rate"]) == ("answer to the most similar source", 0.0)


def test_answers_without_a_probability_are_no_baseline_of_nats():
    model = toy_pairs.made(metric="nats_per_token")
    data = model.encode(toy_pairs.FEW)
    with pytest.raises(ConfigError, match="looked-up answers have no probability"):
        model.baseline(data, data, 5.0)
