"""The strongest tokens of a long text, with their context."""

import numpy as np
import pytest

from elman.inspect.saliency import Saliency
from elman.inspect.salient_tokens import strongest_pairs, strongest_tokens
from elman.inspect.text_plots import plot_saliency

WORDS = [f"w{i}" for i in range(100)]


def test_the_strongest_come_in_the_order_of_the_text_whatever_their_sign():
    shares = np.zeros(100)
    shares[[70, 3, 40]] = 1.0, -2.0, 0.5
    found = strongest_tokens(WORDS, shares, blank=" ", count=2)
    assert [(t.place, t.token, t.share) for t in found] == [(4, "w3", -2.0), (71, "w70", 1.0)]
    assert found[0].context == "w0 w1 w2 [w3] w4 w5 w6 w7 w8 w9…"


def test_characters_are_shown_in_their_words():
    text = "it was a dark and stormy night"
    shares = np.eye(1, len(text), text.index("k"))[0]
    (found,) = strongest_tokens([*text], shares, blank="", count=1)
    assert found.context == "it␣was␣a␣dar[k]␣and␣stormy␣night"


def test_of_several_answers_the_strongest_pairs_are_found():
    rows = [Saliency(f"q{i}", "a", "b", np.zeros(100)) for i in range(3)]
    rows[2].shares[5], rows[0].shares[9], rows[1].shares[1] = 3.0, -2.0, 0.1
    assert strongest_pairs(WORDS, rows, 2) == [(0, 9), (2, 5)]


@pytest.mark.parametrize("answers", [1, 30])
def test_the_picture_of_a_long_text_is_no_wider_than_a_page(answers, tmp_path):
    pytest.importorskip("matplotlib")
    draw = np.random.default_rng(0)
    rows = [Saliency("$q", "$a", "_b", draw.normal(size=100)) for _ in range(answers)]
    path = tmp_path / "p.png"
    plot_saliency(WORDS, rows, path, about="model · $text")
    head = path.read_bytes()[:24]
    assert head[1:4] == b"PNG"
    assert int.from_bytes(head[16:20], "big") < 1400
