"""A language model as objectives see it: it writes on after the state in which the window before left it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.functional import cross_entropy

from elman.decoding import AtLengths
from elman.decoding.sequence_model import DecoderStart, Sequences, SequenceScores
from elman.errors import ModelError
from elman.kernels.dropout import draw_mask
from elman.layers.cross_entropy import weighted_mean
from elman.scan import scan
from elman.shapes import Float, Tensor
from elman.state import eval_mode, repeat
from elman.tasks.language_model.network import BPTTBatch
from elman.tasks.task_sequence_model import TaskSequenceModel
from elman.text.batching import BPTTWindows

if TYPE_CHECKING:
    from elman.tasks.language_model.data import LanguageModelDataset
    from elman.tasks.language_model.task import LanguageModel

_STEPS = 32  # tokens of a piece of running text in ``sample_batches``


class StatefulBatch(NamedTuple):
    """A window of text and the state before it."""

    batch: BPTTBatch
    state: Any


class LanguageModelSequenceModel(TaskSequenceModel):
    """p(window | what came before it). What is written is as long as the window."""

    aligned = True

    def __init__(self, task: LanguageModel) -> None:
        self.task, self.net = task, task.net
        self.features = task.net.layers.output_size

    def training_loss(self, objective: Callable[..., Tensor]) -> StatefulObjective:
        return StatefulObjective(objective, self)

    def sample_batches(
        self, dataset: LanguageModelDataset, limit: int, rows: int = 50
    ) -> Iterator[StatefulBatch]:
        """Pieces of the text, each after all that comes before it in its stream."""
        rows = max(1, min(rows, len(dataset) // (4 * _STEPS)))
        state = self.net.begin(rows)
        windows = BPTTWindows(dataset.ids, rows, _STEPS, first=self.task.end)()
        for batch in map(self.task.collate, islice(windows, -(-limit // rows))):
            window = StatefulBatch(batch, state)
            with eval_mode(self.net):
                state = self.following(window)
            yield window

    def targets(self, window: StatefulBatch) -> Sequences:
        batch = window.batch
        return Sequences(batch.targets, batch.mask | ~batch.mask.any())

    def begin(self, window: StatefulBatch, copies: int = 1) -> DecoderStart:
        net, rows = self.net, len(window.batch.ids) * copies
        stop = AtLengths(self.targets(window).mask.sum(1).repeat_interleave(copies))
        start, limit = window.batch.ids[:, 0].repeat_interleave(copies), window.batch.ids.shape[1]
        if net.ngrams is not None:
            return DecoderStart(net.step, _refuse_blend, repeat(window.state, copies), start, stop, limit)
        every = torch.arange(net.vocabulary, device=window.batch.ids.device)
        E: Tensor = net.embed(every[None])[0]
        if net.training and net.word_dropout:
            E = E * draw_mask(E, len(E), 1, p=net.word_dropout)
        stack = net.layers.cell.sample_masks(E.new_zeros(rows, 1))

        def after(state: Any, x: Tensor) -> tuple[Any, Tensor]:
            xs, after = scan(stack, net.drop_input(x[:, None]), None, state)
            return after, net.output.logits(net.drop(xs)[:, 0])

        def step(state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
            return after(state, E[tokens])

        def blend(state: Any, tokens: Tensor, weights: Tensor) -> tuple[Any, Tensor]:
            mixed, given = weights.to(E.dtype) @ E, E[tokens.clamp(min=0)]
            return after(state, torch.where((tokens < 0)[:, None], mixed, given))

        fixed = net.fixed_step() if not (net.training or torch.is_grad_enabled()) else ""
        step = step if isinstance(fixed, str) else fixed
        return DecoderStart(step, blend, repeat(window.state, copies), start, stop, limit)

    def score(self, window: StatefulBatch, given: Sequences, copies: int = 1) -> SequenceScores:
        hs = self.states(window, given, copies)
        nll = self.net.output.nll(hs, given.tokens)
        return SequenceScores(-nll.masked_fill(~given.mask, 0), hs)

    def states(self, window: StatefulBatch, given: Sequences, copies: int = 1) -> Float[Tensor, "N T H"]:
        start = window.batch.ids[:, :1].repeat_interleave(copies, 0)
        before = torch.cat([start, given.tokens[:, :-1]], 1)
        kept: Tensor = self.net.drop(self.net.read(repeat(window.state, copies), before)[1])
        return kept

    def criterion(self, logits: Float[Tensor, "B T V"], gold: Sequences) -> Float[Tensor, ""]:
        wide = logits.to(torch.promote_types(logits.dtype, torch.float32)).transpose(1, 2)
        # The last window of a text is padded: nothing is written where no row goes on.
        tokens, mask = (part[:, : logits.shape[1]] for part in gold)
        return weighted_mean(cross_entropy(wide, tokens, reduction="none"), mask)

    def likelihood(self, window: StatefulBatch) -> Float[Tensor, ""]:
        return self.task.bptt_loss(window.batch, 0.0, window.state)[0]

    @torch.no_grad()
    def following(self, window: StatefulBatch) -> Any:
        """The state after the window itself, for the one that comes next."""
        return self.net.read(window.state, window.batch.ids)[0]


def _refuse_blend(state: Any, tokens: Tensor, weights: Tensor) -> tuple[Any, Tensor]:
    raise ModelError("n-grams read tokens, not mixtures of them; they stand apart while a network is trained")


class StatefulObjective:
    """An objective for running text: each window goes on from the state in which the one before ended."""

    def __init__(self, objective: Callable[..., Tensor], model: LanguageModelSequenceModel) -> None:
        self.objective, self.model = objective, model

    def begin(self, batch: BPTTBatch) -> Any:
        return self.model.task.bptt_loss.begin(batch)

    def __call__(self, batch: BPTTBatch, progress: float, state: Any) -> tuple[Tensor, Any]:
        window = StatefulBatch(batch, state)
        return self.objective(self.model, window, progress), self.model.following(window)
