"""AdamW by C++ makes the updates of torch's, whether gradients are dense or of some rows alone."""

from copy import deepcopy

import pytest
import torch
from torch import nn
from torch.nn.functional import embedding

from elman.kernels import native_adamw
from elman.kernels.native_adamw import NativeAdamW, find_tables, fits_native, sparse_gradients
from elman.layers.embedding import Embedding
from elman.layers.softmax import Softmax
from elman.training import TrainingConfig, make_optimizer


@pytest.fixture(autouse=True)
def library():
    if reason := native_adamw.unsupported_reason():
        pytest.skip(reason)
    torch.manual_seed(0)


@pytest.fixture(params=[1, 2, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(native_adamw, "_ALONE", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: request.param)


SHAPES = [(100, 37), (50,), (3, 4, 5), (7, 1), (), (0, 4), (2, 16)]
OPTIONS = {"lr": 0.01, "betas": (0.8, 0.99), "weight_decay": 0.1}


def draw_gradients(number):
    """Of the first weights a few rows, never the same, and once none."""
    torch.manual_seed(number)
    drawn = [torch.randn(shape) for shape in SHAPES]
    drawn[0][torch.rand(100) < (1 if number == 3 else 0.8)] = 0
    return drawn


def run_updates(make, dtype, *, sparse=False, count=12, moments=None):
    torch.manual_seed(99)
    weights = [torch.randn(shape).to(dtype).requires_grad_() for shape in SHAPES]
    optimizer = make(weights, **OPTIONS)
    if moments:
        optimizer.load_state_dict(deepcopy(moments))
    for number in range(count):
        for w, g in zip(weights, draw_gradients(number), strict=True):
            w.grad = g.to_sparse(1) if sparse and w.shape == SHAPES[0] else g.to(dtype)
        optimizer.step()
    return weights, optimizer


@pytest.mark.parametrize("sparse", [False, True])
def test_updates_are_those_of_torch_in_float64(sparse, threads):
    exact, _ = run_updates(torch.optim.AdamW, torch.float64)
    found, _ = run_updates(NativeAdamW, torch.float32, sparse=sparse)
    for a, b in zip(found, exact, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=0, atol=2e-6)


def test_the_bits_do_not_depend_on_threads_or_on_how_gradients_are_given(monkeypatch):
    monkeypatch.setattr(native_adamw, "_ALONE", 0)
    found = []
    for count, sparse in ((1, False), (2, True), (3, True)):
        monkeypatch.setattr(torch, "get_num_threads", lambda count=count: count)
        found.append(run_updates(NativeAdamW, torch.float32, sparse=sparse)[0])
    assert all(torch.equal(a, b) for other in found[1:] for a, b in zip(found[0], other, strict=True))


def test_its_state_is_that_of_torch():
    _, first = run_updates(NativeAdamW, torch.float32)
    kept = first.state_dict()
    ours, _ = run_updates(NativeAdamW, torch.float32, moments=kept)
    theirs, other = run_updates(torch.optim.AdamW, torch.float32, moments=kept)
    assert other.state_dict()["state"].keys() == kept["state"].keys()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-5)


def test_weights_without_a_gradient_wait_and_count_for_themselves():
    found = []
    for make, dtype in ((NativeAdamW, torch.float32), (torch.optim.AdamW, torch.float64)):
        torch.manual_seed(3)
        weights = [torch.randn(9).to(dtype).requires_grad_() for _ in range(3)]
        optimizer = make(weights, **OPTIONS)
        for number in range(9):
            for k, w in enumerate(weights):
                g = torch.randn(9)
                w.grad = g.to(dtype) if (number + k) % 3 else None
            optimizer.step()
        found.append((weights, [optimizer.state[w]["step"].item() for w in weights]))
    (ours, counts), (exact, expected) = found
    assert counts == expected
    for a, b in zip(ours, exact, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=0, atol=2e-6)


def test_a_state_that_is_loaded_takes_the_place_of_its_own():
    _, first = run_updates(NativeAdamW, torch.float32, count=5)
    kept = deepcopy(first.state_dict())
    ours, again = run_updates(NativeAdamW, torch.float32, count=3)
    again.load_state_dict(deepcopy(kept))
    theirs, other = run_updates(torch.optim.AdamW, torch.float32, count=3)
    other.load_state_dict(deepcopy(kept))
    for weights, optimizer in ((ours, again), (theirs, other)):
        for w, g in zip(weights, draw_gradients(9), strict=True):
            w.grad = g
        optimizer.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-6)


def test_a_tied_table_has_the_same_gradient_as_rows():
    embed = Embedding(4000, 40)
    net = nn.ModuleDict({"embed": embed, "softmax": Softmax(40, 4000, embed, samples=50)})
    optimizer = make_optimizer(net, TrainingConfig())
    tables = find_tables(net, optimizer)
    assert tables == [embed.E]
    ids, targets, found = torch.randint(1, 4000, (3, 5)), torch.randint(1, 4000, (3, 5)), []
    for some in ([], tables):
        optimizer.zero_grad()
        torch.manual_seed(5)
        with sparse_gradients(some):
            lookup = embed.look_up(ids)
            h = embedding(lookup.types[1], lookup.rows()) + embed(ids)
            net["softmax"].loss(h, targets).backward()
        found.append(embed.E.weight.grad)
    assert not embed.E.sparse
    assert [g.is_sparse for g in found] == [False, True]
    torch.testing.assert_close(found[1].to_dense(), found[0])


def test_other_optimizers_and_weights_keep_dense_gradients():
    net = Embedding(4000, 40)
    sgd = make_optimizer(net, TrainingConfig(optimizer="sgd"))
    assert find_tables(net, sgd) == []
    assert not fits_native([*Embedding(4000, 40).double().parameters()])
    assert find_tables(Embedding(10, 4), make_optimizer(net, TrainingConfig())) == []


def test_without_a_library_the_reason_is_said_and_torch_changes_the_weights(monkeypatch):
    monkeypatch.setattr(native_adamw, "why_not_loaded", lambda name: "there is no compiler")
    assert native_adamw.unsupported_reason() == "there is no compiler"
    assert not fits_native([*Embedding(4000, 40).parameters()])
