import struct

from elman.corpora.word2vec_text import read_word2vec


def test_single_words_are_kept_with_three_decimals():
    rows = [(b"in", 0.5, -0.0001), (b"per_cent", 1.0, 2.0), (b"dog", -0.0625, 0.1)]
    stored = b"3 2\n" + b"".join(word + b" " + struct.pack("<2f", *numbers) for word, *numbers in rows)
    assert read_word2vec(stored) == b"2 2\nin 0.500 0.000\ndog -0.062 0.100\n"
