"""Graphs that are kept between calls write what graphs of one call write, whatever was done between.

That these write what plain steps write is in the tests of recorded steps.
"""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from weakref import ref

import pytest
import torch

from elman.decoding import AtTokens, BannedTokens, Beam, Greedy, Sample, rollout
from elman.decoding.interfaces import FixedStep
from elman.decoding.recorded_rollout import find_recording
from elman.tasks.language_model.config import LanguageModelConfig
from elman.tasks.language_model.network import LanguageModelNetwork
from elman.tasks.seq2seq.config import ATTENDING, Seq2SeqConfig
from elman.tasks.seq2seq.network import Seq2SeqNetwork
from elman.tasks.seq2seq.quick_step import QuickSteps
from elman.tasks.seq2seq.search import Seq2SeqBatch

pytestmark = pytest.mark.gpu
V = 300


@pytest.fixture(autouse=True)
def no_grad() -> Any:
    with torch.no_grad():
        yield


def make(seed: int = 0, **options: Any) -> LanguageModelNetwork:
    torch.manual_seed(seed)
    config = LanguageModelConfig(**{"embedding": 30, "hidden": 50, "layers": 2, **options})
    return LanguageModelNetwork(config, V).cuda().eval()


def policies(seed: int) -> list[Any]:
    return [Greedy(), Sample(generator=torch.Generator().manual_seed(seed))]


def given(rows: int, first: int = 8, limit: int = 40) -> Any:
    return {"start": torch.arange(rows, device="cuda") + first, "stop": AtTokens((7,)), "limit": limit}


def check(net: LanguageModelNetwork, rows: int, seed: int = 1, **limits: Any) -> None:
    limits = {**given(rows), **limits}
    fixed = net.fixed_step()
    assert isinstance(fixed, FixedStep)
    for one, other in zip(policies(seed), policies(seed), strict=True):
        found = rollout(fixed, net.begin(rows), one, **limits)
        expected = rollout(FixedStep(fixed.run), net.begin(rows), other, **limits)
        assert found.tokens.equal(expected.tokens)
        torch.testing.assert_close(found.log_probs, expected.log_probs)


def find_graph(net: LanguageModelNetwork, rows: int, **limits: Any) -> Any:
    fixed, limits = net.fixed_step(), {**given(rows), **limits}
    assert isinstance(fixed, FixedStep)
    recorded = find_recording(fixed, Greedy(), **limits)
    assert not isinstance(recorded, str)
    with recorded.open_tape(net.begin(rows), limits["start"], limits["limit"]) as tape:
        return tape.recording.graph


def spoil_free_memory() -> None:
    """Numbers that would be seen, wherever memory was given back."""
    torch.cuda.synchronize()
    junk = [torch.full((2**k,), torch.nan, device="cuda") for k in range(6, 22) for _ in range(20)]
    del junk
    torch.cuda.empty_cache()


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_one_graph_writes_many_texts(rows: int, cell: str) -> None:
    net = make(cell=cell)
    first = find_graph(net, rows)
    assert first is not None
    for seed, limits in enumerate([{}, given(rows, 20), {"limit": 60}, {"stop": AtTokens((9,))}, {"limit": 9}]):
        check(net, rows, seed, **limits)
        spoil_free_memory()
        assert find_graph(net, rows, **limits) is first


def test_graphs_of_other_shapes_do_not_disturb_each_other() -> None:
    net, other = make(), make(1, cell="gru", hidden=64)
    for seed in range(3):
        for rows in (1, 3, 20):
            check(net, rows, seed)
            check(other, rows, seed, constraints=[BannedTokens(((seed + 11,),))])


def test_a_graph_of_several_steps_is_kept() -> None:
    net = make(embedding=8, hidden=8, layers=1)
    first = find_graph(net, 2, limit=4001)
    for seed in range(2):
        check(net, 2, seed, limit=4001, stop=AtTokens(()))
        assert find_graph(net, 2, limit=4001) is first


def test_a_graph_sees_what_became_of_the_weights() -> None:
    net = make()
    first = find_graph(net, 3)
    for _ in range(2):
        for weight in net.parameters():
            weight.data *= 1.2
        spoil_free_memory()
        check(net, 3)
    net.load_state_dict(make(5).state_dict())
    check(net, 3)
    assert find_graph(net, 3) is first
    net.softmax.b = torch.nn.Parameter(torch.randn(V, device="cuda"))
    spoil_free_memory()
    check(net, 3)
    net.cpu().cuda()
    spoil_free_memory()
    check(net, 3)


def test_inference_mode_has_recordings_of_its_own() -> None:
    net = make()
    for _ in range(2):
        with torch.inference_mode():
            check(net, 2)
        check(net, 2)


def test_threads_write_what_one_writes() -> None:
    net, together = make(), Barrier(3)
    fixed: Any = net.fixed_step()

    def write(step: Any, seed: int) -> torch.Tensor:
        with torch.no_grad():
            return rollout(step, net.begin(2), policies(seed)[1], **given(2)).tokens

    def write_several(seed: int) -> list[torch.Tensor]:
        together.wait()
        return [write(fixed, seed) for _ in range(10)]

    expected = [write(FixedStep(fixed.run), seed) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        for found, one in zip(pool.map(write_several, range(3)), expected, strict=True):
            assert all(each.equal(one) for each in found)


def test_memory_goes_with_the_network() -> None:
    taken = []
    for _ in range(3):
        net = make()
        for rows in (1, 2, 3, 4, 5, 6):
            check(net, rows)
        gone = ref(net)
        gc.collect()  # what was made on the way
        gc.disable()
        try:
            del net
            assert gone() is None
        finally:
            gc.enable()
        torch.cuda.synchronize()
        taken.append(torch.cuda.memory_allocated())
    assert taken[2] == taken[1]


def make_batch(net: Seq2SeqNetwork, lengths: list[int], seed: int) -> Seq2SeqBatch:
    generator = torch.Generator().manual_seed(seed)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    ids = torch.randint(4, V, mask.shape, generator=generator) * mask
    ids, mask = ids.cuda(), mask.cuda()
    copies = ids if net.pointer is not None else ids[:, :0]
    return Seq2SeqBatch(ids, mask, ids, mask, copies, 0)


@pytest.mark.parametrize("decoder", [*ATTENDING, "plain", "context"])
@pytest.mark.parametrize("copying", [False, True])
def test_one_graph_translates_many_sources(decoder: Any, copying: bool) -> None:
    if copying and decoder not in ATTENDING:
        pytest.skip("only what attention looks at is copied")
    torch.manual_seed(0)
    sizes: Any = {"hidden": 32, "embedding": 24, "copying": copying, "label_smoothing": 0.0}
    net = Seq2SeqNetwork(Seq2SeqConfig(decoder=decoder, **sizes), (V, V)).cuda().eval()
    for weight in net.parameters():
        weight.data = torch.randn_like(weight) * 0.3
    beam, start = Beam(width=4, n_best=4), torch.full((3,), 2, device="cuda")
    for number, (lengths, limit) in enumerate(
        [([5, 2, 7], 20), ([7, 7, 1], 25), ([1, 7, 3], 12), ([4, 2, 2], 9)]
    ):
        batch, limits = (
            make_batch(net, lengths, number),
            {"start": start, "stop": AtTokens((3,)), "limit": limit},
        )
        step, state = QuickSteps(net).begin(batch, beam.width)
        assert isinstance(step, FixedStep)
        found, expected = (beam(one, state, **limits) for one in (step, FixedStep(step.run)))
        assert [[h.tokens for h in row] for row in found] == [[h.tokens for h in row] for row in expected]
        step, state = QuickSteps(net).begin(batch, 1)
        assert isinstance(step, FixedStep)
        one, other = (rollout(each, state, Greedy(), **limits) for each in (step, FixedStep(step.run)))
        assert one.tokens.equal(other.tokens)
        torch.testing.assert_close(one.log_probs, other.log_probs)
        for weight in net.parameters():
            weight.data *= 1.1
        spoil_free_memory()
