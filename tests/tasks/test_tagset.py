"""Tagsets: which tags there are, how they are trained, and how likely a span is."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elman.errors import DataError, ModelError
from elman.tasks.tagger.tagset import UNKNOWN, Tagset
from elman.text.spans import convert_tags, tags_to_spans

SCHEMES = ["BIO", "IOB1", "BIOES"]
GOLD = [["B-X", "I-X", "O"], ["O", "B-Y", "B-Y", "I-Y", "I-Y"], ["B-X"]]
FILE = Path("labels.json")


def tagset(name: str, trained: str = "") -> Tagset:
    return Tagset.learn("ner", [convert_tags(tags, name) for tags in GOLD], trained)


@pytest.mark.parametrize("written", SCHEMES)
@pytest.mark.parametrize("trained", ["", *SCHEMES])
def test_decoding_undoes_encoding_whatever_the_schemes(written, trained):
    known = tagset(written, trained)
    assert (known.written, known.trained) == (written, trained or written)
    for tags in GOLD:
        tags = convert_tags(tags, written)
        ids = known.encode(tags)
        trained_tags = [known.labels.items[i] for i in ids]
        assert trained_tags == convert_tags(tags, known.trained)
        assert known.decode(ids.tolist()) == tags


def test_tags_without_spans_are_taken_as_they_are():
    known = Tagset.learn("upos", [["NOUN", "VERB"], ["NOUN"]], "BIOES")
    assert (known.written, known.trained, known.labels.items) == ("", "", ("NOUN", "VERB"))
    assert known.encode(["VERB", "X"]).tolist() == [1, UNKNOWN]
    assert known.constraints() is None


@pytest.mark.parametrize("name", SCHEMES)
def test_ill_formed_tags_are_trained_as_the_well_formed_ones_of_the_same_spans(name):
    known = tagset(name)
    for tags in product(known.labels.items, repeat=3):
        ids = known.encode(tags)
        if UNKNOWN in ids:  # a letter that no span of the data needs, such as S-Y
            continue
        repaired = [known.labels.items[i] for i in ids]
        assert tags_to_spans(repaired) == tags_to_spans(tags)
        assert convert_tags(repaired, name) == repaired


def test_there_is_always_an_o():
    assert "O" in Tagset.learn("ner", [["B-X", "E-X"]] * 3, "").labels.items


def test_a_tag_that_marks_no_span_is_named_with_its_line():
    with pytest.raises(DataError, match=r"a\.conll:7: the tag 'NOUN' of column ner marks no span"):
        tagset("BIO").encode(["O", "NOUN"], "a.conll:7")


@given(st.sampled_from(SCHEMES), st.integers(1, 4), st.integers(0, 10_000))
def test_pieces_of_a_span_add_up_to_its_probability(name, length, seed):
    """Under any distribution over tag sequences; where ends are marked, over the well-formed ones."""
    known = Tagset.learn("ner", [convert_tags(["B-X", "I-X", "I-X", "O", "B-X", "B-X"], name)], "")
    items = known.labels.items
    paths = list(product(range(len(items)), repeat=length))
    tags = [[items[i] for i in path] for path in paths]
    p = np.random.default_rng(seed).exponential(size=len(paths)) ** 3
    if name == "BIOES":
        p *= [convert_tags(one, name) == one for one in tags]
    p /= p.sum()
    chosen = max(range(len(paths)), key=lambda k: (bool(tags_to_spans(tags[k])), p[k]))
    for span in tags_to_spans(tags[chosen]):
        expected = sum(q for q, one in zip(p, tags, strict=True) if span in tags_to_spans(one))
        found = 0.0
        for sign, start, run in known.pieces(span, paths[chosen]):
            through = [
                q for q, path in zip(p, paths, strict=True) if list(path[start : start + len(run)]) == run
            ]
            found += sign * sum(through)
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SCHEMES)
def test_a_stored_tagset_is_restored(name):
    known = tagset(name, "BIOES")
    assert Tagset.from_json(known.to_json(), FILE) == known


@pytest.mark.parametrize(
    "damage",
    [
        {"labels": []},
        {"labels": "OB"},
        {"labels": ["O", "O"]},
        {"labels": ["O", 3]},
        {"labels": ["O", "NOUN"]},
        {"trained": "XYZ"},
        {"trained": ["BIO"]},
        {"trained": ""},
        {"column": 7},
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_tagset_is_refused(damage):
    with pytest.raises(ModelError, match=r"labels\.json: the file is damaged"):
        Tagset.from_json(tagset("BIO").to_json() | damage, FILE)
    with pytest.raises(ModelError, match="damaged"):
        Tagset.from_json(["O"], FILE)
