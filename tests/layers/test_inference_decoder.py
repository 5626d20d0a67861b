"""A decoder that writes against the same decoder that reads what it wrote, in the company that a beam is."""

from typing import Any

import pytest
import torch
from torch import nn

from elman.cells import CELLS
from elman.layers.decoders.inference import FrozenCell, InferenceDecoder, TokenProjections, freeze_cell
from elman.layers.embedding import Embedding
from elman.state import leaves, map_state, pick, repeat
from tests.layers.decoders import ATTENDING, SEEN, decoder
from tests.layers.test_decoder import SCORES, sources

COMPANY = ([0, 1, 2], [0, 0, 0, 2, 2, 1], [2, 5, 0, 0, 3], [1, 1, 4], [2], [0, 0])  # of the step before


def embedding() -> Embedding:
    made = Embedding(7, SEEN).double()
    nn.init.normal_(made.E.weight)
    return made


def check(kind: str, **options: Any) -> None:
    """Every step of a search in which hypotheses are copied, dropped and put in another order."""
    made, E, source = decoder(kind, **options), embedding(), sources([3, 1, 2])
    with torch.no_grad():
        session, state = made.begin(source)
        write, inputs = InferenceDecoder(made), TokenProjections(E, made)
        before = write.begin(session)
        for rows in COMPANY:
            state = pick(state, torch.tensor(rows))
            tokens = torch.randint(7, (len(rows),))
            read = made.unroll(session, state, E(tokens[:, None]))
            state, o, weights = made.step(write, before, state, inputs(tokens))
            torch.testing.assert_close(o, read.os[:, 0], rtol=0, atol=1e-10)
            torch.testing.assert_close(weights, read.weights[:, 0], rtol=0, atol=1e-10)
            for (name, a), (_, b) in zip(leaves(state), leaves(read.state), strict=True):
                torch.testing.assert_close(a, b, rtol=0, atol=1e-10, msg=name)


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("score", SCORES)
def test_what_is_written_is_what_would_be_read(kind, score):
    check(kind, score=score)


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("options", [{"residual": True, "layers": 3}, {"zoneout": 0.3}], ids=str)
def test_residual_layers_and_zoneout_are_written_as_they_are_read(kind, options):
    check(kind, **options)


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("cell", CELLS)
def test_any_cell_writes(kind, cell):
    made = decoder(kind, cell=cell)
    E, (session, state) = embedding(), made.begin(sources([3, 2], cell))
    tokens = torch.tensor([3, 1])
    with torch.no_grad():
        expected = made.unroll(session, state, E(tokens[:, None])).os[:, 0]
        write = InferenceDecoder(made)
        _, o, _ = made.step(write, write.begin(session), state, TokenProjections(E, made)(tokens))
    torch.testing.assert_close(o, expected, rtol=0, atol=1e-10)


def test_a_token_is_multiplied_once():
    made, E = decoder("gnmt"), embedding()
    inputs, asked = TokenProjections(E, made), []
    E.register_forward_hook(lambda _, ids, __: asked.extend(ids[0].flatten().tolist()))
    with torch.no_grad():
        first = inputs(torch.tensor([3, 1, 3, 6]))
        again = inputs(torch.tensor([6, 3, 0, 0]))
    assert sorted(asked) == [0, 1, 3, 6]
    assert torch.equal(first[[3, 0]], again[:2])


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_without_gradients_steps_as_before(name):
    cell = CELLS[name](6, 8)
    with torch.no_grad():
        x = torch.randn(70, 6)
        state = map_state(torch.randn_like, cell.initial(x))
        expected, frozen = cell.step(state, cell.project(x)), FrozenCell(cell)
        found = frozen.step(state, frozen.project(x))
    for (path, a), (_, b) in zip(leaves(found), leaves(expected), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5, msg=path)


@pytest.mark.parametrize("kind", ["plain", "context"])
def test_a_decoder_without_attention_writes_what_would_be_read(kind):
    made, E, source = decoder(kind, layers=2), embedding(), sources([3, 1, 2])
    cells = [freeze_cell(cell) for cell in made.layers]
    with torch.no_grad():
        session, state = made.begin(source)
        for rows in COMPANY:
            state = pick(state, torch.tensor(rows))
            x = E(torch.randint(7, (len(rows), 1)))
            read = made.unroll(session, state, x)
            state, o = made.step(cells, session, state, x[:, 0])
            torch.testing.assert_close(o, read.os[:, 0], rtol=0, atol=1e-10)
            for (name, a), (_, b) in zip(leaves(state), leaves(read.state), strict=True):
                torch.testing.assert_close(a, b, rtol=0, atol=1e-10, msg=name)


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("most", [1, 3])
def test_sequences_of_a_source_side_by_side_find_in_it_what_each_would_find_alone(kind, most):
    made, E = decoder(kind), embedding()
    session, state = made.begin(sources([3, 1, 2]))
    state = repeat(state, most)
    xs = E(torch.randint(7, (3 * most, 4)))
    alone, beside = (made.unroll(one, state, xs) for one in (session, session._replace(most=most)))
    torch.testing.assert_close(beside.os, alone.os, rtol=0, atol=1e-10)
    torch.testing.assert_close(beside.weights, alone.weights, rtol=0, atol=1e-10)
    assert session._replace(most=most).group(3 * most) == most
    assert session._replace(most=most).group(3 * most - 1) == 0, "some have ended: nobody knows which"
    assert session.group(3) == 0
