from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.errors import ConfigError, DataError
from elman.text.schemes import SCHEMES
from elman.text.spans import Span, convert_tags, detect_scheme, spans_to_tags, tags_to_spans, transition_masks

LABELS = ["X", "Y", "creative-work", ""]

tags = st.sampled_from(
    ["O", *(f"{letter}-{label}".removesuffix("-") for letter in "BIESLU" for label in LABELS)]
)
every_scheme = pytest.mark.parametrize("name", SCHEMES)


@st.composite
def found(draw: st.DrawFn, labels: tuple[str, ...] = tuple(LABELS)) -> tuple[list[Span], int]:
    """Spans of a sentence, apart or side by side, and how many words it has."""
    chosen, place = [], draw(st.integers(0, 2))
    for length in draw(st.lists(st.integers(1, 4), max_size=4)):
        chosen.append(Span(draw(st.sampled_from(labels)), place, place + length))
        place += length + draw(st.integers(0, 2))
    return chosen, place


def slow_spans(sentence: list[str]) -> list[Span]:
    """Every stretch that holds together and cannot be longer: conlleval's rule, the other way round.

    Two tags hold together only as BI, BE, II or IE of one label.
    """

    def together(place: int) -> bool:
        if not 0 < place < len(sentence):
            return False
        (a, before), (b, label) = (
            (tag[0].translate(str.maketrans("LU", "ES")), tag[2:]) for tag in sentence[place - 1 : place + 1]
        )
        return before == label and a + b in ("BI", "BE", "II", "IE")

    return [
        Span(sentence[i][2:], i, j)
        for i, j in product(range(len(sentence)), range(1, len(sentence) + 1))
        if i < j
        and sentence[i] != "O"
        and not together(i)
        and not together(j)
        and all(map(together, range(i + 1, j)))
    ]


@settings(max_examples=2000)
@given(st.lists(tags, max_size=8))
def test_spans_are_those_of_conlleval_in_any_mixture_of_tags(sentence: list[str]) -> None:
    assert tags_to_spans(sentence) == slow_spans(sentence)


def test_labels_may_hold_hyphens_and_letters_may_stand_alone() -> None:
    assert tags_to_spans(["B-creative-work", "I-creative-work", "B"]) == [
        Span("creative-work", 0, 2),
        Span("", 2, 3),
    ]


@pytest.mark.parametrize("tag", ["NN", "X-PER", "_", "", "B-", "BX", "b-PER", "O-PER"])
def test_what_marks_no_span_is_refused(tag: str) -> None:
    with pytest.raises(DataError, match=f"the tag '{tag}' marks no span; expected O or a tag like"):
        tags_to_spans(["O", tag])


@every_scheme
@settings(max_examples=100)
@given(found(), st.randoms())
def test_spans_written_are_read_again(name: str, sentence: tuple[list[Span], int], random) -> None:
    inside, length = sentence
    shuffled = random.sample(inside, len(inside))
    assert tags_to_spans(spans_to_tags(shuffled, length, name)) == inside


@every_scheme
@settings(max_examples=100)
@given(st.lists(tags, max_size=8))
def test_there_and_back_is_the_first_conversion(name: str, sentence: list[str]) -> None:
    converted = convert_tags(sentence, name)
    assert len(converted) == len(sentence)
    for other in SCHEMES:
        assert convert_tags(convert_tags(converted, other), name) == converted


def test_each_scheme_in_one_sentence() -> None:
    inside = [Span("X", 0, 3), Span("X", 3, 4), Span("Y", 4, 6)]
    assert {name: "".join(tag[0] for tag in spans_to_tags(inside, 7, name)) for name in SCHEMES} == {
        "BIO": "BIIBBIO",
        "IOB1": "IIIBIIO",
        "BIOES": "BIESBEO",
        "BILOU": "BILUBLO",
    }


@pytest.mark.parametrize("wrong", [Span("X", 2, 2), Span("X", 1, 3), Span("X", 3, 5)])
def test_spans_that_do_not_fit_are_refused(wrong: Span) -> None:
    with pytest.raises(DataError, match=r"is empty, overlaps another or leaves the 4 words"):
        spans_to_tags([Span("Y", 0, 2), wrong], 4, "BIO")


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(ConfigError, match="'IOB'; choose from BIO, IOB1, BIOES, BILOU"):
        convert_tags(["O"], "IOB")


@every_scheme
def test_the_transitions_allow_exactly_the_well_formed(name: str) -> None:
    labels = ["O", *(f"{letter}-{x}" for letter in SCHEMES[name].letters for x in "XY")]
    begin, step, end = transition_masks(labels, name)
    for length in range(1, 5):
        for path in product(range(len(labels)), repeat=length):
            sentence = [labels[index] for index in path]
            steps = all(step[a, b] for a, b in pairwise(path))
            allowed = begin[path[0]] and steps and end[path[-1]]
            assert allowed == (convert_tags(sentence, name) == sentence), sentence


def test_a_tag_of_another_scheme_has_no_transitions() -> None:
    with pytest.raises(DataError, match="the tag 'E-X' is none of the scheme BIO"):
        transition_masks(["O", "B-X", "E-X"], "BIO")
    assert transition_masks([], "BIO").step.shape == (0, 0)


@every_scheme
@settings(max_examples=100)
@given(st.lists(found(("X", "Y", "creative-work")), max_size=4))
def test_the_scheme_is_found_in_what_it_wrote(name: str, corpus: list[tuple[list[Span], int]]) -> None:
    sentences = [spans_to_tags(inside, length, name) for inside, length in corpus]
    assert detect_scheme(sentences) == (name if any(inside for inside, _ in corpus) else None)


@pytest.mark.parametrize(
    "corpus",
    [
        ["DET NOUN VERB", "NOUN"],
        ["B O", "O"],
        ["B I N O V"],
        ["NN E-mail NN"],
        ["O E-mail O", "S-Bahn L-plate L-plate"],
        ["B-X I-X O _"],
        ["B-X I-X O B I"],
        ["Case=Nom|Number=Sing _ O"],
        ["O O", "O"],
        ["", ""],
        [],
    ],
    ids=repr,
)
def test_other_tags_are_no_spans(corpus: list[str]) -> None:
    assert detect_scheme(line.split() for line in corpus) is None


@pytest.mark.parametrize(
    ("corpus", "name"),
    [
        (["B-X I-X O B-Y", "O I-X", "B-Y"], "BIO"),
        (["I-X I-X O I-Y", "O B-X", "I-Y"], "IOB1"),
        (["S-X O B-X I-X E-X", "B-Y I-Y O", "S-X S-Y"], "BIOES"),
        (["B I O B", "O B"], "BIO"),
        (["I-X I-X O I-Y"], "IOB1"),
        (["B-X"], "BIO"),
    ],
)
def test_a_few_errors_or_letters_alone_do_not_hide_the_scheme(corpus: list[str], name: str) -> None:
    assert detect_scheme(line.split() for line in corpus) == name
