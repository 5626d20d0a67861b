"""Every decoder in tiny, and the same decoders as plain loops: one sequence, one step, one word at a time."""

import torch
from torch import Tensor, nn

from elman.cells import CELLS, stack_cells, with_zoneout
from elman.layers.attention import SCORES, Attention
from elman.layers.decoders.base import Decoder, Readout
from elman.layers.decoders.initial_state import (
    SUMMARIES,
    CopyInit,
    DecoderInit,
    LearnedInit,
    MeanInit,
    ZeroInit,
)
from elman.layers.decoders.with_attention import BahdanauDecoder, GNMTDecoder, InputFeedingDecoder, LuongDecoder
from elman.layers.decoders.without_attention import ContextDecoder, PlainDecoder
from elman.layers.encoder import EncoderOutput, RecurrentEncoder, build_stacked_rnn
from elman.state import pick

ATTENDING = {
    "luong": LuongDecoder,
    "gnmt": GNMTDecoder,
    "bahdanau": BahdanauDecoder,
    "input-feeding": InputFeedingDecoder,
}
DECODERS = ("plain", "context", *ATTENDING)
STARTS = ("zero", "copied", "copied mean", "transformed last", "transformed mean")
READ, SEEN, UNITS, OUT = (3, 2, 4, 5)  # features of a source's word, of a target's; units; the softmax reads


def encoder(cell: str = "lstm", bidirectional: bool = True) -> RecurrentEncoder:
    layers = build_stacked_rnn(CELLS[cell], (READ, UNITS), layers=2, bidirectional=bidirectional, dropout=0)
    return RecurrentEncoder(layers).double()


def decoder(
    kind: str,
    *,
    cell: str = "lstm",
    score: str = "bilinear",
    start: str = "transformed last",
    memory: int = 2 * UNITS,
    noise: float = 0.0,
    layers: int = 2,
    residual: bool = False,
    zoneout: float = 0.0,
) -> Decoder:
    """Two layers with large weights; a dot product needs as many units as the memory has features."""
    units = memory if score in ("dot", "scaled") else UNITS
    beside = {"context": memory, "bahdanau": memory, "input-feeding": OUT}.get(kind, 0)
    between = memory if kind == "gnmt" else 0
    make = with_zoneout(CELLS[cell], zoneout)
    cells = [make(SEEN + beside, units), make(units + between, units)]
    cells += [make(units, units) for _ in range(layers - 2)]
    parts = [cells[:1], cells[1:]] if kind == "gnmt" else [cells]
    stacks = [stack_cells(some, [noise] * len(some), residual=residual) for some in parts[-1:]]
    stacks = [stack_cells(some, [noise]) for some in parts[:-1]] + stacks
    begin, readout = _start(start, cells, memory), Readout(units, memory, OUT)
    if kind == "plain":
        made: Decoder = PlainDecoder(*stacks, initial_state=begin)
    elif kind == "context":
        made = ContextDecoder(*stacks, initial_state=begin, summary=SUMMARIES["mean"], readout=readout)
    else:
        attention = Attention(SCORES[score](units, memory))
        made = ATTENDING[kind](*stacks, initial_state=begin, attention=attention, readout=readout)
    for weight in made.parameters():
        nn.init.normal_(weight, std=0.6)
    return made.double().eval()


def _start(name: str, cells: list, memory: int) -> DecoderInit:
    kind, _, summary = name.partition(" ")
    if kind == "transformed":
        return LearnedInit(cells, memory, SUMMARIES[summary])
    if kind == "zero":
        return ZeroInit(cells)
    return MeanInit(cells) if summary else CopyInit()


def by_hand(kind: str, made: Decoder, source: EncoderOutput, xs: Tensor) -> tuple[Tensor, Tensor]:
    """o (B, T, O) and α (B, T, S) by the equations of `elman.layers.decoders.base`, whose names these are."""
    rows = [_one(kind, made, source, b, xs[b]) for b in range(len(xs))]
    return torch.stack([o for o, _ in rows]), torch.stack([a for _, a in rows])


def _one(kind, made, source, b, xs):
    n = int(source.mask[b].sum())
    hs, most = source.ys[b, :n], source.mask.shape[1]
    cells = [one.cell for one in made.layers]
    states = list(pick(made.initial_state(source), torch.tensor([b])))
    h, o, os, alphas = cells[-1].output(states[-1])[0], torch.zeros(OUT).double(), [], []
    c, alpha = hs.mean(0) if n else torch.zeros(hs.shape[1]).double(), torch.zeros(n).double()

    def climb(x: Tensor, layers: range) -> Tensor:
        for k in layers:
            states[k], y = cells[k](states[k], x[None])
            x = y[0]
        return x

    def attend(query: Tensor) -> tuple[Tensor, Tensor]:
        weights = [score_by_hand(made.attention.score, query, h_j).exp() for h_j in hs]
        parts = torch.stack(weights) / sum(weights) if n else torch.zeros(0).double()
        return sum((a * h_j for a, h_j in zip(parts, hs, strict=True)), 0 * c), parts

    for x in xs:
        if kind == "plain":
            h = climb(x, range(2))
        elif kind == "context":
            h = climb(torch.cat([x, c]), range(2))
        elif kind == "bahdanau":
            c, alpha = attend(h)
            h = climb(torch.cat([x, c]), range(2))
        elif kind == "luong":
            h = climb(x, range(2))
            c, alpha = attend(h)
        elif kind == "gnmt":
            below = climb(x, range(1))
            c, alpha = attend(below)
            h = climb(torch.cat([below, c]), range(1, 2))
        else:
            h = climb(torch.cat([x, o]), range(2))
            c, alpha = attend(h)
        o = h if kind == "plain" else torch.tanh(made.readout.W(torch.cat([h, c])))
        os.append(o)
        alphas.append(torch.cat([alpha, torch.zeros(most - n).double()]))
    return torch.stack(os), torch.stack(alphas)


def score_by_hand(score: nn.Module, q: Tensor, h: Tensor) -> Tensor:
    name = next(name for name, kind in SCORES.items() if type(score) is kind)
    if name == "bilinear":
        return q @ (score.W_s.weight @ h)
    if name == "additive":
        return score.v @ torch.tanh(score.W.weight @ q + score.U.weight @ h)
    return (q * h).sum() / (len(q) ** 0.5 if name == "scaled" else 1)
