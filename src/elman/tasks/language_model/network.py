"""The network of a language model: embed, recur, say what comes next; and its loss on running text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import nn

from elman.cells import (
    Cell,
    Formulaic,
    Mogrifier,
    Stacked,
    WeightDrop,
    Zoneout,
    get_cell,
    require_formula,
    stack_cells,
)
from elman.decoding.interfaces import FixedStep, Step, StepParts
from elman.kernels.dropout import draw_mask
from elman.layers.cross_entropy import weighted_mean
from elman.layers.decoders.inference import freeze_cell, step_cells
from elman.layers.embedding import Embedding, LockedDropout, Pretrained, PretrainedEmbedding
from elman.layers.mixture import Mixture
from elman.layers.ngram_mixture import MixedOutput, NGramMixture
from elman.layers.rnn import RNN
from elman.layers.softmax import AdaptiveSoftmax, Output, Softmax
from elman.layers.token_step import check_steps, step_token
from elman.scan.fused_step import fuse_step, unrecordable_reason
from elman.scan.single_step import can_step, step_cell
from elman.shapes import Bool, Float, Int, Tensor
from elman.state import State
from elman.tasks.language_model.config import LanguageModelConfig


class LanguageModelNetwork(nn.Module):
    """p(w_{t+1} | w_{1:t}) = output(h_t), h_{1:T} = layers(embed(w_{1:T})).

    A state is a value: ``begin`` makes the first one, ``read`` and ``step`` take one and return the next.
    With n-grams beside the layers, a state and what is read have their context, too; they stand apart while
    the layers are trained.
    """

    softmax: Output
    ngrams: NGramMixture | None

    def __init__(self, config: LanguageModelConfig, vocabulary: int, vectors: Pretrained | None = None) -> None:
        super().__init__()
        self.embed = _embedding(config, vocabulary, vectors)
        self.vocabulary, self.word_dropout = vocabulary, config.word_dropout
        given = (config.input_dropout, config.layer_dropout)
        before, between = (config.dropout if p is None else p for p in given)
        self.drop_input, self.drop = LockedDropout(before), LockedDropout(config.dropout)
        cells: list[Cell[Any]] = []
        size = self.embed.output_size
        for width in config.widths:
            cells.append(_cell(config, size, width))
            size = cells[-1].output_size
        self.layers = RNN(stack_cells(cells, [between] * (len(cells) - 1), residual=config.residual))
        self.softmax = _output(config, size, vocabulary, self.embed)
        self.ngrams = None

    @property
    def output(self) -> Output | MixedOutput:
        """From what `read` returns to the next token. A property: protocols see no submodules."""
        return self.softmax if self.ngrams is None else MixedOutput(self.softmax, self.ngrams)

    def begin(self, rows: int, like: Tensor | None = None) -> Any:
        """The state before a text, for so many texts: zero, by default where the weights are."""
        check_steps(self)
        state = self.begin_layers(rows, like)
        return state if self.ngrams is None else State(layers=state, context=self.ngrams.ngrams.begin(rows))

    def begin_layers(self, rows: int, like: Tensor | None = None) -> Any:
        """The layers' part of `begin`."""
        like = next(self.layers.parameters()) if like is None else like
        return self.layers.cell.initial(like.new_zeros(rows, 1))

    def read(
        self, state: Any, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"] | None = None
    ) -> tuple[Any, Float[Tensor, "B T D"]]:
        """The state after some tokens, and what the output sees after each, before any output dropout."""
        if self.ngrams is None:
            return self.read_layers(state, ids, mask)
        layers, hs = self.read_layers(state.layers, ids, mask)
        context, contexts = self.ngrams.read(state.context, ids, mask)
        return State(layers=layers, context=context), torch.cat([hs, contexts], -1)  # in the wider precision

    def read_layers(
        self, state: Any, ids: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"] | None = None
    ) -> tuple[Any, Float[Tensor, "B T H"]]:
        """The layers' part of `read`."""
        if ids.shape[1] == 1 and mask is None and can_step(self.layers.cell, len(ids)):
            state, h = self._read_token(state, ids[:, 0])
            return state, h[:, None]
        drops = self.training and (self.word_dropout or self.drop_input.p)
        if isinstance(self.embed, Embedding) and not drops and not self.embed.is_watched:
            hs, state = self.layers(self.embed.look_up(ids), mask, state)
            return state, hs
        # In memory time comes first, which all recurrent kernels want.
        turned = ids.t()
        xs = self.embed(turned)
        if self.training and self.word_dropout:
            xs = xs * draw_mask(xs, self.vocabulary, 1, p=self.word_dropout)[turned]
        hs, state = self.layers(self.drop_input(xs.transpose(0, 1)), mask, state)
        return state, hs

    def step(self, state: Any, tokens: Int[Tensor, " B"]) -> tuple[Any, Float[Tensor, "B V"]]:
        """One token on: a `decoding.Step`."""
        if self.ngrams is None and can_step(self.layers.cell, len(tokens)):
            if type(self.softmax) is Softmax:
                found = step_token(self, self._list_parts, state, tokens, whole=True)
                if found is not None:
                    return found
            state, h = self._read_token(state, tokens)
            return state, self.softmax.logits(h)
        state, hs = self.read(state, tokens[:, None])
        return state, self.output.logits(hs[:, 0])

    def _list_parts(self) -> tuple[nn.Module, Cell[Any], Softmax | None]:
        """What one token passes; the output where it is a single product."""
        return self.embed, self.layers.cell, self.softmax if type(self.softmax) is Softmax else None

    def fixed_step(self) -> FixedStep[Any] | str:
        """The step with the weights as they are now, for a GPU to record; or why it cannot."""
        if reason := self.unrecordable_reason():
            return reason
        step = self._bind_step()
        return FixedStep(step, lambda: StepParts(self, (), lambda _: step))

    def _bind_step(self) -> Step[Any]:
        """The step of the parts that it passes, which does not refer to the network."""
        cells = [freeze_cell(cell) for cell in cast(Stacked, self.layers.cell).layers]
        embed, softmax = self.embed, self.softmax

        def step(state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
            state, h = step_cells(cells, state, embed(tokens[:, None])[:, 0])
            return state, softmax.logits(h)

        return fuse_step(step)

    def unrecordable_reason(self) -> str | None:
        """Why no CUDA graph can be made of its steps; None where one can."""
        if self.ngrams is not None:
            return "n-grams look contexts up in Python"
        if not isinstance(self.softmax, Softmax | Mixture):
            return f"{type(self.softmax).__name__} has shapes that depend on the tokens"
        if next(self.parameters()).dtype == torch.float64:
            return "kernels for rows of logits have 32 bits"
        return unrecordable_reason(self.layers.cell)

    def _read_token(self, state: Any, tokens: Int[Tensor, " B"]) -> tuple[Any, Float[Tensor, "B H"]]:
        found = step_token(self, self._list_parts, state, tokens, whole=False)
        return found or step_cell(self.layers.cell, state, self.embed(tokens[:, None])[:, 0])

    def forward(self, ids: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """The logits after each token of whole texts."""
        return self.output.logits(self.read(self.begin(len(ids)), ids)[1])


@dataclass(frozen=True)
class BPTTBatch:
    """A window of parallel streams: ``targets[b, t]`` follows ``ids[b, t]``; the mask says what counts."""

    ids: Int[Tensor, "B T"]
    targets: Int[Tensor, "B T"]
    mask: Bool[Tensor, "B T"]
    weight: float = field(compare=False)  # tokens that count, known without asking the device

    def pick(self, rows: slice) -> BPTTBatch:
        """Some of the streams."""
        mask = self.mask[rows]
        return BPTTBatch(self.ids[rows], self.targets[rows], mask, float(mask.sum()))


class BPTTLoss:
    """The loss of truncated backpropagation: that of a window, after the state that the one before left.

    L = mean(-log p(w_{t+1} | …)) + α mean(h̃²) + β mean((h_t - h_{t-1})²): h are the last layer's outputs, h̃
    the same after dropout (Merity et al. 2017). Where nothing counts, all does: there is a finite loss.
    """

    def __init__(self, net: LanguageModelNetwork, config: LanguageModelConfig) -> None:
        self.net = net
        self.activation_penalty, self.temporal_penalty = config.activation_penalty, config.temporal_penalty

    def begin(self, batch: BPTTBatch) -> Any:
        return self.net.begin_layers(len(batch.ids))

    def __call__(self, batch: BPTTBatch, progress: float, state: Any) -> tuple[Tensor, Any]:
        state, hs = self.net.read_layers(state, batch.ids)
        kept = self.net.drop(hs)
        mask = batch.mask | ~batch.mask.any()
        # Time first, as it lies in memory: nothing is copied.
        loss = self.net.softmax.loss(kept.transpose(0, 1), batch.targets.t(), mask.t())
        if self.activation_penalty:
            loss = loss + self.activation_penalty * weighted_mean(_mean_square(kept), mask)
        if self.temporal_penalty and hs.shape[1] > 1:
            change = _mean_square(hs[:, 1:].float() - hs[:, :-1].float())
            loss = loss + self.temporal_penalty * (change * mask[:, 1:]).sum() / mask[:, 1:].sum().clamp(min=1)
        return loss, state


def _mean_square(hs: Float[Tensor, "B T H"]) -> Float[Tensor, "B T"]:
    return hs.float().square().mean(-1)


def _cell(config: LanguageModelConfig, size: int, width: int) -> Cell[Any]:
    plain = get_cell(config.cell)(size, width)
    if not (isinstance(plain, Formulaic) or config.weight_drop or config.mogrifier_rounds or config.zoneout):
        return plain
    cell: Formulaic = WeightDrop(require_formula(plain), config.weight_drop)
    if config.mogrifier_rounds:
        cell = Mogrifier(cell, rounds=config.mogrifier_rounds, rank=config.mogrifier_rank)
    return Zoneout(cell, config.zoneout) if config.zoneout else cell


def _output(
    config: LanguageModelConfig, size: int, vocabulary: int, embed: Embedding | PretrainedEmbedding
) -> AdaptiveSoftmax | Mixture | Softmax:
    if config.softmax == "adaptive":
        cutoffs = config.cutoffs or (max(1, vocabulary // 16), max(2, vocabulary // 4))
        return AdaptiveSoftmax(size, vocabulary, cutoffs)
    tied = embed if config.tied and isinstance(embed, Embedding) else None
    if config.mixtures == 1:
        return Softmax(size, vocabulary, tied, samples=config.softmax_samples)
    return Mixture(size, vocabulary, tied, count=config.mixtures, dropout=config.mixture_dropout)


def _embedding(
    config: LanguageModelConfig, vocabulary: int, vectors: Pretrained | None
) -> Embedding | PretrainedEmbedding:
    if vectors is None:
        return Embedding(vocabulary, config.embedding)
    if config.freeze_vectors:
        return PretrainedEmbedding(vectors)
    made, found = Embedding(vocabulary, vectors.matrix.shape[1]), vectors.found
    if found.any():
        rows = vectors.matrix[found]
        with torch.no_grad():  # files come in different scales
            made.E.weight[found] = rows * (Embedding.spread / rows.std().clamp(min=1e-8))
    return made
