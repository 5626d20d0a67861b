"""States of a language model of characters: those that it has after each word of the line."""

import pytest
import torch

from elman.cells import get_cell
from elman.layers.character_states import CharacterStates, ReaderShape, spell_lines

END, BLANK = 2, 3
SHAPE = ReaderShape(alphabet=9, embedding=4, hidden=5, layers=2, line_end=END, blank=BLANK)
CODES = torch.tensor([[0, 0, 0], [4, 5, 0], [6, 0, 0], [7, 8, 4]])
PLACE = torch.tensor([[1, 3, 2], [2, 1, 0]])
MASK = PLACE > 0


def reader(*, backward: bool = False, cell: str = "lstm") -> CharacterStates:
    torch.manual_seed(0)
    return CharacterStates(get_cell(cell), SHAPE._replace(backward=backward)).eval()


def state_after(made: CharacterStates, characters: list[int]) -> torch.Tensor:
    """y of the last of some characters, read alone."""
    ids = torch.tensor([characters])
    return made.layers(made.embed(ids), torch.ones_like(ids, dtype=torch.bool))[0][0, -1]


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_a_word_has_the_state_after_its_last_character(cell):
    made = reader(cell=cell)
    line = [END, 4, 5, BLANK, 7, 8, 4, BLANK, 6]
    expected = [state_after(made, line[:n]) for n in (3, 7, 9)]
    hs = made(CODES, PLACE, MASK)
    torch.testing.assert_close(hs[0], torch.stack(expected), rtol=0, atol=1e-6)
    torch.testing.assert_close(hs[1, 0], state_after(made, [END, 6]), rtol=0, atol=1e-6)
    assert not hs[1, 2].any(), "padding is zero"


def test_backward_a_word_has_the_state_after_its_first_character():
    made = reader(backward=True)
    line = [END, 6, BLANK, 4, 8, 7, BLANK, 5, 4]
    expected = [state_after(made, line[:n]) for n in (9, 6, 2)]
    torch.testing.assert_close(made(CODES, PLACE, MASK)[0], torch.stack(expected), rtol=0, atol=1e-6)


@pytest.mark.parametrize("backward", [False, True])
def test_what_is_kept_is_what_is_computed(backward):
    made = reader(backward=backward)
    fresh = made(CODES, PLACE, MASK)
    made.train()
    first, again = made(CODES, PLACE, MASK), made(CODES, PLACE, MASK)
    assert len(made._kept) == 2
    torch.testing.assert_close(first, fresh, rtol=0, atol=1e-6)
    assert torch.equal(again, first)
    other = made(CODES, PLACE.flip(0), MASK.flip(0))
    assert torch.equal(other, first.flip(0)), "by content, not by place in a batch"


def test_an_answer_is_that_of_the_weights_as_they_are():
    made = reader().train()
    made(CODES, PLACE, MASK)
    made.eval().embed.E.weight.data.mul_(2)
    fresh = reader()
    fresh.load_state_dict(made.state_dict())
    torch.testing.assert_close(made(CODES, PLACE, MASK), fresh(CODES, PLACE, MASK))


def test_nothing_is_kept_beyond_its_room():
    made = reader().train()
    made._room = 3 * 5 * 4  # bytes of the states of three words
    hs = made(CODES, PLACE, MASK)
    assert len(made._kept) == 1
    torch.testing.assert_close(made(CODES, PLACE, MASK), hs, rtol=0, atol=1e-6)


def test_the_weights_are_frozen():
    made = reader()
    assert not any(p.requires_grad for p in made.parameters())
    assert not made(CODES, PLACE, MASK).requires_grad


def test_a_batch_without_words_has_no_states():
    nothing = torch.zeros(2, 0, dtype=torch.long)
    assert reader()(CODES, nothing, nothing > 0).shape == (2, 0, 5)
    assert spell_lines(CODES, nothing, nothing > 0, SHAPE).ids.shape == (2, 0)
