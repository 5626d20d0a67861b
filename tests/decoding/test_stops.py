"""Where rows end: at tokens, at strings across tokens, at a time by a clock of our own."""

import pytest
import torch

from elman.decoding import AnyOf, AtStrings, AtTokens, Beam, Greedy, History, TeacherForcing, rollout, within
from tests.decoding.tables import END, table

LETTERS = "_$ab\n"


def decode(_, ids) -> str:
    return "".join(LETTERS[i] for i in ids)


def forced(text: str, stop) -> str:
    targets = torch.tensor([[LETTERS.index(c) for c in text]])
    model = table(0, size=5)
    result = rollout(
        model.step, model.state, TeacherForcing(targets), start=model.start, stop=stop, limit=len(text)
    )
    return decode(0, result.tokens[0].tolist())


def test_any_of_several_tokens_ends_a_row():
    stop = AtTokens((END, LETTERS.index("\n")))
    assert forced("ab\nab$", stop) == "ab\n"
    assert forced("ab$ab\n", stop) == "ab$"


def test_a_string_ends_a_row_though_it_spans_tokens():
    assert forced("abaabba", AtStrings(("abb", "bbb"), decode)) == "abaabb"
    assert forced("ab\nab", AtStrings(("\n",), decode)) == "ab\n"


def test_a_string_is_not_found_in_the_token_before_the_first():
    assert forced("baa", AtStrings(("ab",), decode)) == "baa"  # the first input is a


def test_a_string_is_looked_for_in_what_a_row_means_for_its_own_sentence():
    stop = AtStrings(("yes",), lambda sentence, ids: ("no", "yes")[sentence] * len(ids))
    written = History(torch.tensor([[3], [3], [3]]), torch.tensor([1, 0, 1]))
    assert stop(written).tolist() == [True, False, True]


def test_a_beam_completes_hypotheses_at_strings():
    model = table(3, size=5)
    [found] = Beam(width=8, n_best=8)(
        model.step, model.state, start=model.start, stop=AtStrings(("ab", "$"), decode), limit=6
    )
    texts = [decode(0, h.tokens) for h in found]
    assert any(text.endswith("ab") for text in texts)
    for text in texts:
        assert "ab" not in text[:-1]
        assert "$" not in text[:-1]
        assert text.endswith(("ab", "$")) or len(text) == 6


class Clock:
    """One second later each time it is looked at."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@pytest.mark.parametrize("seconds", [1, 4])
def test_a_time_limit_ends_every_row(seconds):
    model = table(0, sentences=2)
    stop = AnyOf((AtTokens(()), within(seconds, Clock())))
    arguments = {"start": model.start, "stop": stop, "limit": 50}
    result = rollout(model.step, model.state, Greedy(), **arguments)
    assert result.mask.sum(1).tolist() == [seconds, seconds]


def test_a_time_limit_ends_a_beam_with_what_there_is():
    model = table(0, sentences=2)
    [first, second] = Beam(width=3, n_best=3, length_penalty=0)(
        model.step, model.state, start=model.start, stop=within(4, Clock()), limit=50
    )
    assert {len(h.tokens) for h in first + second} == {4}
    assert len(first) == len(second) == 3
