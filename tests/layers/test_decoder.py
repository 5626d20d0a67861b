"""Decoders against plain loops: at once, in parts, one by one, in company, in any order of the rows."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elman.cells import CELLS, Elman, Residual, Stacked, Zoneout
from elman.layers.attention import Attention, Dot
from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.base import DecoderOutput, Readout
from elman.layers.decoders.with_attention import BahdanauDecoder, InputFeedingDecoder
from elman.layers.decoders.without_attention import TransducerDecoder
from elman.layers.encoder import EncoderOutput
from elman.state import State, leaves, pick
from tests.layers.decoders import ATTENDING, DECODERS, OUT, READ, SEEN, STARTS, by_hand, decoder, encoder

LOOPED = "transformed last"  # a plain loop is slow, and starts have their own tests
SCORES = ("dot", "scaled", "bilinear", "additive")
EVERY = pytest.mark.parametrize("kind", DECODERS)


def sources(lengths: list[int], cell: str = "lstm", bidirectional: bool = True) -> EncoderOutput:
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    xs = torch.randn(*mask.shape, READ, dtype=torch.double)
    with torch.no_grad():
        return encoder(cell, bidirectional)(xs, mask)


def tokens(rows: int, steps: int = 4) -> torch.Tensor:
    return torch.randn(rows, steps, SEEN, dtype=torch.double)


def one_by_one(made, session, state: State, xs: torch.Tensor) -> DecoderOutput:
    read = []
    for x in xs.split(1, 1):
        read.append(made.unroll(session, state, x))
        state = read[-1].state
    weights = None if read[0].weights is None else torch.cat([r.weights for r in read], 1)
    return DecoderOutput(state, torch.cat([r.os for r in read], 1), weights)


def same(one: DecoderOutput, other: DecoderOutput) -> None:
    torch.testing.assert_close(one.os, other.os, rtol=0, atol=1e-10)
    for (name, a), (_, b) in zip(leaves(one.state), leaves(other.state), strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10, msg=name)
    if one.weights is not None:
        torch.testing.assert_close(one.weights, other.weights, rtol=0, atol=1e-10)


def options(kind: str, bidirectional: bool) -> list[dict[str, str]]:
    """All scores and starts that go together: of two directions, as wide as a dot product needs, no state
    can be copied."""
    found = [
        {"score": score, "start": start}
        for score in (SCORES if kind in ATTENDING else ("bilinear",))
        for start in STARTS
    ]
    wide = ("dot", "scaled") if bidirectional else ()
    return [o for o in found if not (o["score"] in wide and o["start"] == "copied")]


@EVERY
@pytest.mark.parametrize("cell", ["lstm", "gru", "elman"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_all_tokens_at_once_are_read_as_one_by_one_and_as_by_a_plain_loop(kind, cell, bidirectional):
    source, xs = sources([2, 3], cell, bidirectional), tokens(2, 2)
    for chosen in options(kind, bidirectional):
        made = decoder(kind, cell=cell, memory=source.ys.shape[2], **chosen)
        with torch.no_grad():
            session, state = made.begin(source)
            whole = made.unroll(session, state, xs)
            same(whole, one_by_one(made, session, state, xs))
            if chosen["start"] != LOOPED or not bidirectional:
                continue
            os, weights = by_hand(kind, made, source, xs)
        torch.testing.assert_close(whole.os, os, rtol=0, atol=1e-10)
        if kind in ATTENDING:
            torch.testing.assert_close(whole.weights, weights, rtol=0, atol=1e-10)
        else:
            assert whole.weights is None


@pytest.mark.parametrize("kind", ["bahdanau", "input-feeding"])
@pytest.mark.parametrize("cell", CELLS)
def test_a_decoder_by_steps_runs_any_cell(kind, cell):
    source, xs = sources([3, 2], cell), tokens(2)
    made = decoder(kind, cell=cell)
    with torch.no_grad():
        found = made.unroll(*made.begin(source), xs)
        os, _ = by_hand(kind, made, source, xs)
    torch.testing.assert_close(found.os, os, rtol=0, atol=1e-10)


@pytest.mark.parametrize("make", [BahdanauDecoder, InputFeedingDecoder])
def test_two_words_and_one_unit_on_paper(make):
    """h_0 = 1 scores the words 0 and ln 3 as they are: weights 1/4 and 3/4, c = ¾ ln 3."""
    ln3, attention, readout = math.log(3), Attention(Dot(1, 1)), Readout(1, 1, 1)
    cell, one = Elman(2, 1), torch.ones(1, 1)
    stack = Stacked([cell])
    made = make(stack, initial_state=lambda _: (State(h=one),), attention=attention, readout=readout)
    for weight in (cell.W, readout.W.weight):
        weight.data.fill_(1)
    for weight in (cell.b, *cell.matrices(), readout.W.bias):
        weight.data.fill_(0)
    words = torch.tensor([[[0.0], [ln3]]])
    source = EncoderOutput(words, torch.ones(1, 2, dtype=torch.bool), words[:, -1], None)
    if make is BahdanauDecoder:
        found = made.unroll(*made.begin(source), torch.tensor([[[0.5]]]))
        alpha = 0.75
        h = math.tanh(0.5 + alpha * ln3)
        first = math.tanh(h + alpha * ln3)
    else:  # the state of now looks, o_0 = 0 is fed; then o_1 is
        found = made.unroll(*made.begin(source), torch.tensor([[[0.5], [0.0]]]))
        h = math.tanh(0.5)
        alpha = 3**h / (1 + 3**h)
        first = math.tanh(h + alpha * ln3)
        again = math.tanh(first)
        second = 3**again / (1 + 3**again)
        assert found.os[0, 1].item() == pytest.approx(math.tanh(again + second * ln3))
    assert found.weights[0, 0].tolist() == pytest.approx([1 - alpha, alpha])
    assert found.os[0, 0].item() == pytest.approx(first)


@EVERY
@settings(max_examples=5)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=4))
def test_a_source_is_answered_alone_as_in_company(kind, lengths):
    torch.manual_seed(2)
    made, source, xs = decoder(kind), sources(lengths), tokens(len(lengths), 2)
    with torch.no_grad():
        together = made.unroll(*made.begin(source), xs)
        for b, n in enumerate(lengths):
            rows = slice(b, b + 1)
            final = tuple(tuple(pick(s, torch.tensor([b])) for s in pair) for pair in source.final)
            alone = EncoderOutput(source.ys[rows, :n], source.mask[rows, :n], source.last[rows], final)
            found = made.unroll(*made.begin(alone), xs[rows])
            torch.testing.assert_close(together.os[rows], found.os, rtol=0, atol=1e-10)
            if found.weights is not None:
                torch.testing.assert_close(together.weights[rows, :, :n], found.weights)
                assert not together.weights[rows, :, n:].any()


@EVERY
def test_rows_that_were_picked_read_on_as_those_they_were_picked_from(kind):
    """As beams do: some rows twice or more often, others not, in any order."""
    made, source = decoder(kind), sources([3, 5, 2])
    before, after, rows = tokens(3), tokens(7), torch.tensor([2, 0, 0, 1, 0, 2, 0])
    with torch.no_grad():
        session, state = made.begin(source)
        picked = pick(made.unroll(session, state, before).state, rows)
        found = made.unroll(session, picked, after)
        for i, b in enumerate(rows.tolist()):
            row = torch.tensor([b])
            whole = torch.cat([before[b], after[i]])[None]
            expected = made.unroll(session, pick(state, row), whole).os[0, before.shape[1] :]
            torch.testing.assert_close(found.os[i], expected, rtol=0, atol=1e-10)


@EVERY
def test_what_is_dropped_lasts_a_session_however_its_tokens_are_read(kind):
    made, source, xs = decoder(kind, noise=0.5).train(), sources([3, 5]), tokens(2)
    session, state = made.begin(source)
    same(made.unroll(session, state, xs), one_by_one(made, session, state, xs))
    other = made.unroll(*made.begin(source), xs)
    assert not torch.allclose(other.os, made.unroll(session, state, xs).os)


@EVERY
def test_gradients_are_those_of_the_plain_loop_and_an_empty_source_makes_no_nan(kind):
    source, xs = sources([3, 4, 0]), tokens(3).requires_grad_()
    ys = source.ys.clone().requires_grad_()
    source, made = source._replace(ys=ys), decoder(kind, score="additive")
    weights = [*made.parameters(), xs, ys]

    def gradients(os: torch.Tensor) -> list[torch.Tensor | None]:
        return list(torch.autograd.grad(os.sin().sum(), weights, allow_unused=True))

    found = gradients(made.unroll(*made.begin(source), xs).os)
    for ours, theirs in zip(found, gradients(by_hand(kind, made, source, xs)[0]), strict=True):
        if ours is None or theirs is None:
            assert ours is None or not ours.any()
            assert theirs is None or not theirs.any()
        else:
            assert ours.isfinite().all()
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-10)


@EVERY
def test_the_softmax_reads_as_many_features_as_the_decoder_says(kind):
    made = decoder(kind)
    found = made.unroll(*made.begin(sources([3, 1])), tokens(2, 3))
    assert found.os.shape == (2, 3, made.output_size)
    assert made.output_size == (4 if kind == "plain" else OUT)


def test_a_transducer_gives_the_encoders_outputs_in_order_and_the_last_one_beyond_the_end():
    source = sources([3, 1])
    made = TransducerDecoder(source.ys.shape[2])
    session, state = made.begin(source)
    whole = made.unroll(session, state, tokens(2, 5))
    expected = [[0, 1, 2, 2, 2], [0, 0, 0, 0, 0]]
    for b, places in enumerate(expected):
        torch.testing.assert_close(whole.os[b], source.ys[b, places])
    same(whole, one_by_one(made, session, state, tokens(2, 5)))
    swapped = made.unroll(session, pick(whole.state, torch.tensor([1, 0])), tokens(2, 1))
    torch.testing.assert_close(swapped.os, whole.os[[1, 0], -1:])


@pytest.mark.parametrize("kind", ATTENDING)
def test_the_step_of_search_is_that_of_training(kind):
    """With weights as they are trained, one step after the other gives what all tokens at once give."""
    made, source, xs = decoder(kind), sources([3, 5]), tokens(2)
    session, state = made.begin(source)
    whole = made.unroll(session, state, xs)
    same(whole, AttentionDecoder.unroll(made, session, state, xs))


@EVERY
def test_residual_layers_add_to_what_they_read(kind):
    """A layer that adds nothing is as good as none: its weights are zero, and so is its output."""
    torch.manual_seed(1)
    made = decoder(kind, cell="elman", layers=3, residual=True)
    assert isinstance(made.layers[2], Residual)
    torch.nn.init.zeros_(made.layers[2].cell.cell.W)
    for weight in (*made.layers[2].cell.cell.U, made.layers[2].cell.cell.b):
        torch.nn.init.zeros_(weight)
    source, xs = sources([3, 5], "elman"), tokens(2)
    session, state = made.begin(source)
    whole = made.unroll(session, state, xs)
    same(whole, one_by_one(made, session, state, xs))
    below, top = whole.state.cells[1:]
    h = below.y if isinstance(made.layers[1], Residual) else below.h
    torch.testing.assert_close(top.y, h)


@EVERY
def test_cells_with_zoneout_are_read_as_by_a_plain_loop(kind):
    made, source, xs = decoder(kind, zoneout=0.5), sources([3, 5]), tokens(2)
    with torch.no_grad():
        whole = made.unroll(*made.begin(source), xs)
        os, _ = by_hand(kind, made, source, xs)
    torch.testing.assert_close(whole.os, os, rtol=0, atol=1e-10)
    assert isinstance(made.layers[0].cell, Zoneout)
