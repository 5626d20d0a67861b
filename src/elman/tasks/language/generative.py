"""A language model as objectives see it: it writes on after the state in which the window before left it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, cast

import torch
from torch.nn.functional import cross_entropy, dropout

from elman.decoding import AtLengths
from elman.decoding.generative import Beginning, Scored, Sequences
from elman.layers.cross_entropy import weighted_mean
from elman.layers.rnn import RNN
from elman.scan import scan
from elman.shapes import Float, Tensor
from elman.state import repeat
from elman.tasks.language.truncated import Batch
from elman.tasks.language_model import LanguageModel


class Window(NamedTuple):
    """A window of text and the state before it."""

    batch: Batch
    state: Any


class Continuations:
    """p(window | what came before it). What is written is as long as the window."""

    aligned = True

    def __init__(self, task: LanguageModel) -> None:
        self.task, self.net = task, task.net
        self.features = task.net.layers.output_size

    def gold(self, window: Window) -> Sequences:
        batch = window.batch
        return Sequences(batch.targets, batch.mask | ~batch.mask.any())

    def begin(self, window: Window, copies: int = 1) -> Beginning:
        net, rows = self.net, len(window.batch.ids) * copies
        every = torch.arange(net.vocabulary, device=window.batch.ids.device)
        E: Tensor = net.embed(every[None])[0]
        if net.training and net.word_dropout:
            E = E * dropout(E.new_ones(len(E), 1), net.word_dropout)
        stack = cast("list[RNN]", net.layers.stack)
        cells = [layer.cell.draw(E.new_zeros(rows, 1)) for layer in stack]

        def after(state: Any, x: Tensor) -> tuple[Any, Tensor]:
            xs, final = net.drop_input(x[:, None]), []
            for cell, before in zip(cells, state, strict=True):
                xs, end = scan(cell, xs, None, before)
                final.append(end)
            return tuple(final), net.output.logits(net.drop(xs)[:, 0])

        def blend(state: Any, tokens: Tensor, weights: Tensor) -> tuple[Any, Tensor]:
            mixed, given = weights.to(E.dtype) @ E, E[tokens.clamp(min=0)]
            return after(state, torch.where((tokens < 0)[:, None], mixed, given))

        lengths = self.gold(window).mask.sum(1).repeat_interleave(copies)
        return Beginning(
            lambda state, tokens: after(state, E[tokens]),
            blend,
            repeat(window.state, copies),
            window.batch.ids[:, 0].repeat_interleave(copies),
            AtLengths(lengths),
            window.batch.ids.shape[1],
        )

    def score(self, window: Window, given: Sequences, copies: int = 1) -> Scored:
        hs = self.states(window, given, copies)
        nats = self.net.output.nats(hs, given.tokens)
        return Scored(-nats.masked_fill(~given.mask, 0), hs)

    def states(self, window: Window, given: Sequences, copies: int = 1) -> Float[Tensor, "N T H"]:
        start = window.batch.ids[:, :1].repeat_interleave(copies, 0)
        before = torch.cat([start, given.tokens[:, :-1]], 1)
        _, hs = self.net.read(repeat(window.state, copies), before)
        kept: Tensor = self.net.drop(hs)
        return kept

    def criterion(self, logits: Float[Tensor, "B T V"], gold: Sequences) -> Float[Tensor, ""]:
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32)).transpose(1, 2)
        return weighted_mean(cross_entropy(wide, gold.tokens, reduction="none"), gold.mask)

    def likelihood(self, window: Window) -> Float[Tensor, ""]:
        return self.task.truncated(window.batch, 0.0, window.state)[0]

    def words(self, rows: Sequence[Sequence[int]]) -> list[Sequence[Hashable]]:
        return [list(row) for row in rows]

    @torch.no_grad()
    def following(self, window: Window) -> Any:
        """The state after the window itself, for the one that comes next."""
        return self.net.read(window.state, window.batch.ids)[0]
