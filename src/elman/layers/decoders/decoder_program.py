"""The step of a decoder with attention as a program: all layers, attention and readout in one call of C++.

What is made of the context is linear in the source, W c_i = Σ_j α_ij W h^e_j: it is computed once a source.
"""

from __future__ import annotations

import math
from typing import Any, cast
from weakref import WeakKeyDictionary, ref

import torch

from elman.cells import Cell, Dropout, Formulaic, Residual
from elman.kernels.few_rows import is_watched, most_rows
from elman.kernels.large_products import linear_large
from elman.layers.attention import Additive, Bilinear, Dot, Memory, ScaledDot
from elman.layers.decoders.attention_decoder import AttentionDecoder
from elman.layers.decoders.base import DecoderContext
from elman.layers.embedding import Embedding
from elman.layers.softmax import Softmax
from elman.native.host_threads import find_parallel
from elman.native.processor import find_level
from elman.native.step_program import POSITIONS, Outdated, ProgramBuilder, Sources
from elman.scan.kept_weights import KeptWeights
from elman.scan.stack_program import StackWriter, StateLayout, find_layout, read_states
from elman.shapes import Float, Int, Tensor
from elman.state import State

_SCORES = (Dot, ScaledDot, Bilinear, Additive)


class DecoderProgram:
    """s_i, o_i, α_i and the logits from s_{i-1} and a token, for a network that does not change meanwhile."""

    def __init__(self, decoder: AttentionDecoder, embedding: Embedding, output: Softmax) -> None:
        self._decoder, layers = ref(decoder), decoder.layers
        self.layout = StateLayout(None, tuple(cast("list[StateLayout]", [find_layout(c) for c in layers])))
        states = [*self.layout.widths()]
        fed = [decoder.output_size] if decoder.input_feeding else []
        self.written = [*states, decoder.output_size]
        build = ProgramBuilder([*states, *fed, *self.written, POSITIONS, len(output.b)])
        count, first = len(states), len(states) + len(fed)
        self.kept = KeptWeights(decoder, embedding, output)
        self.writer = StackWriter(build, self.kept, iter(range(count)), iter(range(first, first + count)))
        self.build, self.o, self.weights = build, first + count, first + count + 1
        self._write_layers(embedding, fed_back=count)
        self.short = build.finish(self.kept.samples)
        h = self.o
        if isinstance(output.P, torch.nn.Linear):
            h = build.multiply(h, self.writer.matrix(output.P.weight))
        build.multiply(h, self.writer.matrix(output.W), self.writer.address(output.b), self.weights + 1)
        self.whole, self.output, self.embedding = build.finish(self.kept.samples), output, embedding
        self.can_run = not self.writer.missing

    @property
    def decoder(self) -> AttentionDecoder:
        """Which is not kept alive by this."""
        found = self._decoder()
        assert found is not None  # who asks has it
        return found

    def reads(self, embedding: Embedding, output: Softmax) -> bool:
        """Is it still the program of these, by their weights as they are?"""
        same = self.embedding is embedding and self.output is output
        return same and self.kept.is_current() and self.whole.is_current()

    def _write_layers(self, embedding: Embedding, fed_back: int) -> None:
        decoder, writer, build = self.decoder, self.writer, self.build
        layers, place = decoder.layers, decoder.attention_layer
        wide = decoder.readout.W.in_features - layers[-1].output_size
        cell = find_formula(layers[0])
        W, b = cell.affine()
        x = writer.write_input(cell, embedding.E.weight)
        if decoder.input_feeding:
            build.multiply(fed_back, writer.matrix(W, -decoder.output_size), None, x, add=True)
        h = self._find_output_before()
        for k, layer in enumerate(layers):
            if k != place:
                h = writer.write_step(find_formula(layer), x) if k == 0 else writer.write(layer, h)
                continue
            self._weigh(h)
            cell = find_formula(layer)
            W, b = cell.affine()
            if k:
                x = build.multiply(
                    h, writer.matrix(W, 0, W.shape[1] - wide), b if b is None else writer.address(b)
                )
            build.sum(x, build.find(self.weights, 1, len(W)), x)
            h = writer.write_step(cell, x)
        if place == len(layers):
            self._weigh(h)
        top = decoder.readout.W
        own = build.multiply(h, writer.matrix(top.weight, 0, top.in_features - wide), writer.address(top.bias))
        build.sum(own, build.find(self.weights, 0, decoder.output_size), self.o, tanh=True)

    def _find_output_before(self) -> int:
        """The buffer of the top layer's last output."""
        top, count = self.decoder.layers[-1], len([*self.layout.widths()])
        if isinstance(top, Residual):
            return count - 1
        formula = find_formula(top).formula
        return count - len(formula.states) + formula.states.index(formula.output)

    def _weigh(self, h: int) -> None:
        score = self.decoder.attention.score
        if isinstance(score, Additive):
            h = self.build.multiply(h, self.writer.matrix(score.W.weight))
            self.build.weigh(h, self.weights, scale=1.0, v=self.writer.address(score.v))
            return
        scale = 1 / math.sqrt(self.build.widths[h]) if isinstance(score, ScaledDot) else 1.0
        self.build.weigh(h, self.weights, scale=scale, v=None)

    def begin(self, context: DecoderContext) -> ProgramSession:
        """Before some sources."""
        return ProgramSession(self, cast(Memory, context.source))


class ProgramSession:
    """A program before some sources, as its steps look at them."""

    def __init__(self, program: DecoderProgram, memory: Memory) -> None:
        self.program, self.decoder = program, program.decoder
        decoder = self.decoder
        top, layers, k = decoder.readout.W, decoder.layers, decoder.attention_layer
        wide = top.in_features - layers[-1].output_size
        readers = [top.weight, *([find_formula(layers[k]).affine()[0]] if k < len(layers) else [])]
        values = [linear_large(memory.values, W[:, -wide:].contiguous()) for W in readers]
        self._kept = [memory.keys.contiguous(), memory.mask.to(torch.uint8).contiguous(), *values]
        keys, mask, *values = self._kept
        at = [v.data_ptr() for v in values]
        sizes = keys.shape[1], keys.shape[2], (*(v.shape[2] for v in values),)
        self.positions = keys.shape[1]
        self.sources = Sources(keys.data_ptr(), (*at,), mask.data_ptr(), *sizes)

    def step(
        self, state: State, tokens: Int[Tensor, " N"]
    ) -> tuple[State, Float[Tensor, "N O"], Float[Tensor, "N S"], Float[Tensor, "N V"]] | None:
        """s_i, o_i, α_i and the logits; None where this is not for the program."""
        program, rows = self.program, len(tokens)
        fed = (state.o,) if self.decoder.input_feeding else ()
        old = read_states((*state.cells, fed))
        if old is None or is_watched() or not _is_worth(rows):
            return None
        like = old[0]
        new = [like.new_empty(rows, width) for width in (*program.written, self.positions)]
        few = rows <= most_rows()
        if few:
            new.append(like.new_empty(rows, len(program.output.b)))
        given, tokens, row = [t.data_ptr() for t in (*old, *new)], tokens.contiguous(), state.row.contiguous()
        run, given = (program.whole, given) if few else (program.short, [*given, 0])
        threads = torch.get_num_threads()
        try:
            run(rows, given, tokens.data_ptr(), threads, find_parallel(), self.sources, row.data_ptr())
        except Outdated:  # by somebody who trains meanwhile
            return None
        count = len(program.written) - 1
        o, weights = new[count], new[count + 1]
        logits = new[-1] if few else program.output.logits(o)
        cells = program.layout.arrange(iter(new))
        return state.replace(cells=cells, **({"o": o} if fed else {})), o, weights, logits


_PROGRAMS: WeakKeyDictionary[AttentionDecoder, DecoderProgram] = WeakKeyDictionary()


def find_program(decoder: AttentionDecoder, embedding: Any, output: Softmax) -> DecoderProgram | None:
    """The program of a decoder, that of before where all weights are; None where it cannot be written."""
    found = _PROGRAMS.get(decoder)
    if found is not None and found.reads(embedding, output):
        return found
    made = _write_program(decoder, embedding, output)
    if made is not None:
        _PROGRAMS[decoder] = made
    return made


def _write_program(decoder: AttentionDecoder, embedding: Any, output: Softmax) -> DecoderProgram | None:
    known = type(decoder.attention.score) in _SCORES
    if not most_rows() or not known or not isinstance(embedding, Embedding) or type(output) is not Softmax:
        return None
    if any(find_layout(cell) is None for cell in decoder.layers):
        return None
    program = DecoderProgram(decoder, embedding, output)
    return program if program.can_run else None


def find_formula(cell: Cell[Any]) -> Formulaic:
    """The cell of a layer that `find_layout` knows, without its dropout."""
    while isinstance(cell, Dropout | Residual):
        cell = cell.cell
    assert isinstance(cell, Formulaic)
    return cell


def _is_worth(rows: int) -> bool:
    """Of many rows only AVX-512 multiplies as fast as libraries of linear algebra."""
    return 0 < rows <= most_rows() or (rows > 0 and find_level() == "avx512")
