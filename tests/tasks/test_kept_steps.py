"""The steps whose recordings are kept: what they read is known, and a kept one finds what plain steps find."""

import gc
from collections.abc import Callable
from typing import Any
from weakref import ref

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from elman.cells import GRU
from elman.decoding import AtTokens, Beam, Greedy, rollout
from elman.decoding.interfaces import FixedStep
from elman.decoding.recorded_beam import find_recorded_beam
from elman.decoding.recorded_rollout import find_recording
from elman.decoding.rollout import replay_rollout
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork
from elman.tasks.seq2seq.config import ATTENDING
from elman.tasks.seq2seq.loss import step_after
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.quick_step import QuickSteps
from elman.tasks.seq2seq.search import Seq2SeqBatch
from elman.tasks.tagger.autoregressive import AutoregressiveHead
from tests.tasks.toy_pairs import CHARS, made, pairs

MODELS: list[dict[str, Any]] = [
    *({"decoder": decoder} for decoder in ATTENDING),
    {"decoder": "gnmt", "layers": 3, "residual": True, "score": "additive"},
    {"decoder": "input-feeding", "copying": True, "score": "dot", "bidirectional": False},
    {"decoder": "plain"},
    {"decoder": "context", "context_readout": True},
]
SOURCES = [("ab", "cdba", "d"), ("abcd", "c", "bd"), ("cab", "da", "bdcab")]  # up to four tokens, or five


@pytest.fixture(autouse=True)
def no_grad():
    with torch.no_grad():
        yield


def make(options: dict[str, Any]) -> tuple[Seq2SeqNetwork, list[Seq2SeqBatch]]:
    """A network, and batches of one shape."""
    examples = [pairs(*((source, "xyz") for source in some)) for some in SOURCES]
    task = made(CHARS, [one for some in examples for one in some], **options)
    task.net.float()
    return task.net, [task.collate(task.encode(some).rows) for some in examples]


def lay_out(net: Seq2SeqNetwork) -> QuickSteps:
    """Its steps as they are for a GPU, where each decoder with cells can be recorded."""
    steps = QuickSteps(net)
    steps.on_gpu = True
    return steps


def start(batch: Seq2SeqBatch) -> torch.Tensor:
    return torch.full((len(batch.source),), 2)


def search(net: Seq2SeqNetwork, batch: Seq2SeqBatch, limit: int) -> tuple[Any, Any]:
    beam, limits = Beam(width=3, n_best=3), {"stop": AtTokens((3,)), "limit": limit}
    step, state = lay_out(net).begin(batch, 3)
    session, first = net.decoder.begin(net.encode(batch.source, batch.mask))
    expected = beam(step_after(net, session, batch), first, start=start(batch), **limits)
    run, beams = beam._prepare(step, start=start(batch), **limits)
    recorded = find_recorded_beam(step, beams, run.log_factor, start(batch), **limits)
    assert not isinstance(recorded, str), recorded
    return beam._results(recorded.run(state, start(batch), beams), beams), expected


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_a_kept_beam_search_finds_what_plain_steps_find(options):
    net, batches = make(options)
    for batch, limit in zip([*batches, batches[0]], (9, 11, 9, 7), strict=True):
        found, expected = search(net, batch, limit)
        assert [[h.tokens for h in row] for row in found] == [[h.tokens for h in row] for row in expected]
        for weight in net.parameters():
            weight.data *= 0.9


@pytest.mark.parametrize("options", MODELS, ids=str)
def test_a_kept_greedy_search_writes_what_plain_steps_write(options):
    net, batches = make(options)
    tapes = []
    for batch in batches:
        limits: Any = {"start": start(batch), "stop": AtTokens((3,)), "limit": 9}
        step, state = lay_out(net).begin(batch, 1)
        recorded = find_recording(step, Greedy(), **limits)
        assert not isinstance(recorded, str), recorded
        found = replay_rollout(recorded, Greedy(), state, **limits)
        session, state = net.decoder.begin(net.encode(batch.source, batch.mask))
        expected = rollout(step_after(net, session, batch), state, Greedy(), **limits)
        assert found.tokens.equal(expected.tokens)
        torch.testing.assert_close(found.log_probs, expected.log_probs, rtol=1e-4, atol=1e-5)
        with recorded.open_tape(state, limits["start"], 9) as tape:
            tapes.append(tape.recording)
        for weight in net.parameters():
            weight.mul_(0.9)
    assert tapes[0] is tapes[1] is tapes[2]  # what attention looks at is padded, a summary has no length


def test_a_step_reads_its_own_sources_whoever_was_recorded_between_two_runs_of_it():
    net, batches = make(MODELS[0])
    begun = [lay_out(net).begin(batch, 1) for batch in batches]
    limits: Any = {"start": start(batches[0]), "stop": AtTokens(()), "limit": 9}
    for number in (0, 1, 0, 2, 1):
        step, state = begun[number]
        recorded = find_recording(step, Greedy(), **limits)
        assert not isinstance(recorded, str), recorded
        found = replay_rollout(recorded, Greedy(), state, **limits)
        session, state = net.decoder.begin(net.encode(batches[number].source, batches[number].mask))
        expected = rollout(step_after(net, session, batches[number]), state, Greedy(), **limits)
        assert found.tokens.equal(expected.tokens)
        torch.testing.assert_close(found.log_probs, expected.log_probs, rtol=1e-4, atol=1e-5)


class ForeignReads(TorchDispatchMode):
    """Tensors that operations read which neither were known nor made by operations before."""

    def __init__(self, known: list[Any]) -> None:
        super().__init__()
        self.alive, self.found = list(known), []
        self.places = {t.untyped_storage().data_ptr() for t in known}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        read = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        self.found += [t for t in read if t.numel() and t.untyped_storage().data_ptr() not in self.places]
        result = func(*args, **(kwargs or {}))
        some = [t for t in tree_leaves(result) if isinstance(t, torch.Tensor)]
        self.alive += some  # lest another tensor takes the place of one
        self.places |= {t.untyped_storage().data_ptr() for t in some}
        return result


def language_model(**options: Any) -> Callable[[], Any]:
    def open_step() -> tuple[Any, Any]:
        config = LanguageModelConfig(**{"embedding": 6, "hidden": 8, **options})
        net = LanguageModelNetwork(config, 30).eval()
        return net, net.fixed_step(), net.begin(3)

    return open_step


def translator(**options: Any) -> Callable[[], Any]:
    def open_step() -> tuple[Any, Any]:
        net, batches = make(options)
        return net, *lay_out(net).begin(batches[0], 1)

    return open_step


def tagger() -> Any:
    head = AutoregressiveHead(GRU(3 + 2, 5), 4, None, features=2, beam=5)
    step, _, state = head.open(torch.randn(3, 6, 3))
    return head, step, state


@pytest.mark.parametrize(
    "open_step", [language_model(), *(translator(**options) for options in (MODELS[0], *MODELS[-2:])), tagger]
)
def test_a_recording_is_kept_with_its_network_and_does_not_keep_it(open_step):
    net, step, state = open_step()
    limits: Any = {"start": torch.tensor([2, 3, 2]), "stop": AtTokens(()), "limit": 6}
    recorded = find_recording(step, Greedy(), **limits)
    assert not isinstance(recorded, str), recorded
    replay_rollout(recorded, Greedy(), state, **limits)
    with recorded.open_tape(state, limits["start"], 6) as tape:
        gone = ref(net), ref(tape.recording)
    del recorded, step, tape
    gc.collect()  # what was made on the way
    assert gone[1]() is not None
    gc.disable()
    try:
        del net
        assert [one() for one in gone] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "open_step",
    [
        language_model(),
        language_model(cell="gru", layers=3, embedding=8, residual=True, tied=False),
        language_model(weight_drop=0.5, zoneout=0.1, dropout=0.3),
        language_model(mogrifier_rounds=2, mixtures=3),
        *(translator(**options) for options in MODELS),
        tagger,
    ],
)
def test_a_step_reads_weights_where_they_lie_and_what_it_says_that_it_reads(open_step):
    net, step, state = open_step()
    assert isinstance(step, FixedStep)
    assert step.parts is not None
    parts, tokens = step.parts(), torch.tensor([2, 3, 2])
    assert parts.owner is net
    bound = parts.bind(parts.constants)
    tensors = [t for t in tree_leaves((parts.constants, state)) if isinstance(t, torch.Tensor)]
    # With gradients nothing is computed by kernels that this does not see.
    with torch.enable_grad(), ForeignReads([*tensors, tokens, *net.parameters(), *net.buffers()]) as reads:
        for _ in range(2):
            state, logits = bound(state, tokens)
    assert len(logits) == 3
    assert not reads.found
