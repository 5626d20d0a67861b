"""The unigram model: its sums against counting everything out, its bits, and what it is good for."""

import math
import random
import subprocess
import sys
from itertools import combinations, pairwise

import numpy as np
import pytest
import torch

from elman.text.subword_tokenizer import SubwordTokenizer, train_subwords
from elman.text.unigram_training import _digamma, _Lattice, learn_pieces

WORDS = {"abab": 3, "abc": 2, "c": 1}
PIECES = ["a", "b", "c", "ab", "abc"]
LOG_P = np.log([0.2, 0.1, 0.3, 0.3, 0.1])


def segmentations(word: str) -> list[list[str]]:
    """All ways to write a word with the pieces."""
    found = []
    for count in range(len(word)):
        for cuts in combinations(range(1, len(word)), count):
            ends = (0, *cuts, len(word))
            parts = [word[a:b] for a, b in pairwise(ends)]
            if all(part in PIECES for part in parts):
                found.append(parts)
    return found


def log_p(parts: list[str]) -> float:
    return sum(LOG_P[PIECES.index(part)] for part in parts)


def test_uses_are_the_expectation_over_all_segmentations():
    expected = np.zeros(len(PIECES))
    for word, count in WORDS.items():
        ways = segmentations(word)
        total = sum(math.exp(log_p(parts)) for parts in ways)
        for parts in ways:
            for part in parts:
                expected[PIECES.index(part)] += count * math.exp(log_p(parts)) / total
    lattice = _Lattice.build([*WORDS], {piece: i for i, piece in enumerate(PIECES)}, whole=True)
    np.testing.assert_allclose(lattice.count_uses(LOG_P, np.array([*WORDS.values()], float)), expected)


def test_digamma_is_torch_s():
    x = np.logspace(-3, 6, 200)
    np.testing.assert_allclose(_digamma(x), torch.digamma(torch.from_numpy(x)), rtol=0, atol=1e-8)


def test_the_best_segmentation_is_the_likeliest_of_all():
    lattice = _Lattice.build([*WORDS], {piece: i for i, piece in enumerate(PIECES)}, whole=True)
    expected = [max(map(log_p, segmentations(word))) for word in WORDS]
    np.testing.assert_allclose(lattice.best(LOG_P), expected)


def test_without_itself_a_piece_is_written_by_others():
    lattice = _Lattice.build(PIECES, {piece: i for i, piece in enumerate(PIECES)}, whole=False)
    apart = [max((log_p(s) for s in segmentations(p) if s != [p]), default=-math.inf) for p in PIECES]
    np.testing.assert_allclose(lattice.best(LOG_P), apart)


def test_frequent_words_become_pieces_and_all_characters_stay():
    words = {"strawberry": 50, "blueberry": 40, "straw": 10, **{f"x{c}": 1 for c in "abcdefgh"}}
    found = dict(learn_pieces(words, 26))
    assert {*"".join(words)} <= found.keys()
    assert {"strawberry", "blueberry"} <= found.keys()
    assert len(found) <= 26
    assert math.isclose(sum(map(math.exp, found.values())), 1, abs_tol=0.15)


def test_of_many_candidates_those_stay_that_would_be_missed_most():
    rng = random.Random(0)
    rare = {"".join(rng.choices("abcdefgh", k=6)): 2 for _ in range(300)}
    found = dict(learn_pieces({**rare, "strawberry": 500, "blueberry": 400}, 60))
    assert {"strawberry", "blueberry"} <= found.keys()


def test_a_word_of_any_length_neither_overflows_nor_vanishes():
    found = learn_pieces({"ab" * 3000: 2, "b": 1}, 10)
    assert all(math.isfinite(score) for _, score in found)


@pytest.mark.parametrize("words", [{}, {"a": 1}])
def test_there_may_be_next_to_nothing_to_learn(words):
    assert [piece for piece, _ in learn_pieces(words, 10)] == [*words]


def test_two_processes_learn_the_same_bits():
    code = (
        "from elman.text.subword_tokenizer import train_subwords as t\n"
        "texts = ['the cat sat on the mat', 'a cat is no hat', 'that hat is the cat\\'s', 'mats'] * 3\n"
        "options = dict(lower=False, digits=False, min_count=1, size=290)\n"
        "print(t(texts, kind='unigram', **options)._pieces.to_str())"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(2)]
    assert runs[0].stdout == runs[1].stdout


def test_a_stored_tokenizer_is_the_same_to_the_last_bit(tmp_path):
    rng = random.Random(0)
    letters = [chr(ord("a") + i) for i in range(26)]
    texts = [" ".join("".join(rng.choices(letters, k=rng.randint(2, 6))) for _ in range(30)) for _ in range(60)]
    options = {"lower": False, "digits": False, "min_count": 1, "size": 600}
    first = train_subwords(texts, kind="unigram", **options)
    first.save(tmp_path)
    again = SubwordTokenizer.load(tmp_path / "tokenizer.json")
    assert again.definition == first.definition
    assert len({score for _, score in first.definition["model"]["vocab"]}) > 100  # the scores say something


def test_a_character_that_no_text_has_is_by_far_the_least_likely():
    options = {"lower": False, "digits": False, "min_count": 1, "size": 280}
    for texts in (["abab abc", "cab"], []):
        vocabulary = dict(train_subwords(texts, kind="unigram", **options).definition["model"]["vocab"])
        learnt = [score for piece, score in vocabulary.items() if piece in ("a", "b", "c", "ab", "abc")]
        unseen = vocabulary["z"]
        assert unseen == pytest.approx(min(learnt if texts else [0.0]) - 10, abs=1e-6)
