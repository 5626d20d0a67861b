"""The step of a decoder in one call against the decoder that reads what was written, in float64."""

import copy

import pytest
import torch
from torch import nn

from elman.cells import CELLS
from elman.kernels.few_rows import most_rows, unsupported_reason
from elman.layers.attention import Attention
from elman.layers.decoders.decoder_program import find_program
from elman.layers.embedding import Embedding
from elman.layers.softmax import Softmax
from elman.scan import few_steps
from elman.state import leaves, map_state, pick
from tests.layers.decoders import ATTENDING, OUT, SEEN, decoder
from tests.layers.test_decoder import SCORES, sources

pytestmark = pytest.mark.skipif(unsupported_reason() is not None, reason="no library")
COMPANY = ([0, 1, 2], [0, 0, 0, 2, 2, 1], [2, 5, 0, 0, 3], [1, 1, 4], [2], [0] * 3, [0, 1, 2] * 25)
VOCABULARY = 7


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Libraries for cells of any size; without gradients."""
    monkeypatch.setattr(few_steps, "SMALLEST", 1)
    with torch.no_grad():
        yield


def make(kind, **options):
    """A decoder, what it reads and what it writes, in float64 and in float32."""
    torch.manual_seed(1)
    wide = nn.ModuleList([decoder(kind, **options), Embedding(VOCABULARY, SEEN), Softmax(OUT, VOCABULARY)])
    nn.init.normal_(wide[2].b)
    return wide.double().eval(), copy.deepcopy(wide).float().eval()


def single_precision(value):
    return type(value)(*map_state(lambda t: t.float() if t.is_floating_point() else t, value))


def check(kind, cell="lstm", **options):
    wide, single = make(kind, cell=cell, **options)
    program = find_program(*single)
    assert program is not None
    made, E, output = wide
    session, state = made.begin(sources([3, 1, 2], cell))
    quick = program.begin(session._replace(source=single_precision(session.source)))
    for rows in COMPANY:
        state = pick(state, torch.tensor(rows))
        tokens = torch.randint(VOCABULARY, (len(rows),))
        read = made.unroll(session, state, E(tokens[:, None]))
        narrow = map_state(lambda t: t.float() if t.is_floating_point() else t, state)
        found = quick.step(narrow, tokens)
        if found is None:
            assert len(rows) > most_rows()  # left to libraries of linear algebra
            continue
        after, o, weights, logits = found
        pairs = [(o, read.os[:, 0]), (weights, read.weights[:, 0]), (logits, output.logits(read.os[:, 0]))]
        pairs += [(a, b) for (_, a), (_, b) in zip(leaves(after), leaves(read.state), strict=True)]
        for a, b in pairs:
            torch.testing.assert_close(a.double(), b.double(), rtol=1e-5, atol=1e-5)
        state = read.state


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("score", SCORES)
def test_what_is_written_in_one_call_is_what_would_be_read(kind, score):
    check(kind, score=score)


@pytest.mark.parametrize("kind", ATTENDING)
@pytest.mark.parametrize("cell", ["gru", "elman"])
def test_other_cells_and_residual_layers_write_so_too(kind, cell):
    check(kind, cell=cell, residual=True, layers=3)


def test_an_empty_source_is_looked_at_nowhere():
    single = make("luong")[1]
    session, state = single[0].begin(single_precision(sources([3, 1, 2])))
    memory = session.source
    memory = memory._replace(mask=memory.mask & torch.tensor([[True], [False], [True]]))
    quick = find_program(*single).begin(session._replace(source=memory))
    _, _, weights, _ = quick.step(state, torch.tensor([1, 2, 3]))
    assert weights[1].eq(0).all()
    torch.testing.assert_close(weights.sum(1), torch.tensor([1.0, 0.0, 1.0]))


def test_what_cannot_be_written_as_a_program_is_not():
    class Own(nn.Module):
        def keys(self, memory):
            return memory

    zoneout, odd = make("gnmt", zoneout=0.3)[1], make("luong")[1]
    odd[0].attention = Attention(Own())
    wide = make("luong")[0]
    assert [find_program(*one) for one in (zoneout, odd, wide)] == [None] * 3


def test_a_program_is_written_anew_for_other_weights():
    made, E, output = make("luong")[1]
    first = find_program(made, E, output)
    assert find_program(made, E, output) is first
    other = Softmax(OUT, VOCABULARY)
    second = find_program(made, E, other)
    assert second.reads(E, other)
    assert not first.reads(E, other)


def test_a_token_that_is_not_there_is_refused():
    single = make("gnmt")[1]
    session, state = single[0].begin(single_precision(sources([3, 1, 2])))
    with pytest.raises(IndexError, match="no such token"):
        find_program(*single).begin(session).step(state, torch.tensor([1, 2, VOCABULARY]))


def test_every_cell_that_has_a_library_has_a_program():
    for name in CELLS:
        single = make("luong", cell=name)[1]
        known = few_steps.find_steps(single[0].layers[0].cell) is not None
        assert (find_program(*single) is not None) == known, name
