"""The strongest tokens of a long text, with their context."""

import numpy as np
import pytest

from elman.inspect import salient_plot
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
    assert found[1].context == "…w66 w67 w68 w69 [w70] w71 w72 w73 w74…", "at most 18 characters a side"


def test_characters_are_shown_in_their_words():
    text = "it was a dark and stormy night"
    shares = np.eye(1, len(text), text.index("k"))[0]
    (found,) = strongest_tokens([*text], shares, blank="", count=1)
    assert found.context == "it␣was␣a␣dar[k]␣and␣stormy␣night"


def test_of_several_answers_the_strongest_pairs_are_found():
    rows = [Saliency(f"q{i}", "a", "b", np.zeros(100)) for i in range(3)]
    rows[2].shares[5], rows[0].shares[9], rows[1].shares[1] = 3.0, -2.0, 0.1
    assert strongest_pairs(WORDS, rows, 2) == [(0, 9), (2, 5)]


def test_the_strip_shows_the_strongest_of_all_answers_and_bars_their_signs(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr(salient_plot, "save_figure", lambda fig, path: figures.append(fig))
    tokens = [f"t{i}" for i in range(100)]
    one, other = np.zeros(100), np.zeros(100)
    one[3], one[50], other[3], other[7] = 0.25, -4.0, -0.5, 2.0

    def draw(*rows):
        titled = [Saliency("text", f"a{i}", "b", shares) for i, shares in enumerate(rows)]
        salient_plot.plot_strongest(tokens, titled, tmp_path / "a.png", blank=" ", about="model")
        return figures[-1]

    strip, bars = draw(one, other).axes[:2]
    (image,) = strip.images
    expected = np.zeros(100)
    expected[[3, 7, 50]] = -0.5, 2.0, -4.0
    np.testing.assert_array_equal(image.get_array()[0], expected)
    assert image.get_clim() == (-4.0, 4.0)
    assert [*image.get_extent()][:2] == [0.5, 100.5]
    shown = {bar.get_width(): bar.get_facecolor() for bar in bars.patches}
    assert {-4.0, -0.5, 0.25, 2.0} <= shown.keys()
    assert shown[2.0] == shown[0.25] != shown[-4.0]
    assert bars.get_axisbelow() is True, "the grid is behind the bars"
    labels = [tick.get_text() for tick in bars.get_yticklabels()]
    assert (
        labels[[bar.get_width() for bar in bars.patches].index(-4.0)] == "t50 (51)  →  text: a0 rather than b"
    )
    assert bars.get_ylim()[0] > bars.get_ylim()[1]  # the first at the top
    (still,) = draw(np.zeros(100)).axes[0].images
    assert still.get_clim() == (-1.0, 1.0)
    single = draw(one)
    assert "the" in single._suptitle.get_text()
    assert "of 100 tokens" in single._suptitle.get_text()


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
