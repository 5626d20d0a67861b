"""Plain numbers are computed by C++ where there is a library; without one, torch computes the same."""

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch import Tensor

from elman.kernels import character_filters, ctc, dot_attention, logsumexp, many_tensors, softmax_nll

MASK = torch.tensor([[1, 1, 1, 0], [1, 0, 1, 1]], dtype=torch.bool)
COUNTS = torch.tensor([[1, 2], [2, 0]]), torch.tensor([4, 3]), torch.tensor([2, 1])  # targets, both lengths
WORDS = torch.tensor([[1, 2, 0], [3, 0, 0], [2, 2, 4]])


def spell(z: Tensor, *counts: Tensor) -> Tensor:
    return ctc.ctc_nll(z, *(counts or COUNTS), slots=2, blank=0, zero_infinity=True)


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    if dot_attention.can_attend(q, v, k, MASK):
        return dot_attention.attend_by_dots(q, k, v, MASK, 0.5)[0]
    return dot_attention.weigh_values(0.5 * q @ k.transpose(1, 2), v, MASK)[0]


def add_beside(z: Tensor, own: Tensor) -> Tensor:
    return logsumexp.logsumexp_beside(z.clone(), own, torch.tensor([0, 5, 3]))


def average(z: Tensor) -> Tensor:
    return softmax_nll.mean_softmax_nll(
        z, torch.tensor([0, 4, 1]), torch.tensor([0.2, 0.0, 1.0]), smoothing=0.1
    )


KERNELS: dict[str, tuple[ModuleType, Callable[..., Tensor], str, tuple[tuple[int, ...], ...]]] = {
    "ctc": (ctc, spell, "_CTC", ((2, 4, 2 * 5),)),
    "attention": (dot_attention, attend, "_Attention", ((2, 3, 5), (2, 4, 5), (2, 4, 6))),
    "sum": (logsumexp, add_beside, "_LogSumExp", ((3, 5), (3,))),
    "loss": (softmax_nll, average, "_SoftmaxNLL", ((3, 5),)),
    "filters": (
        character_filters,
        lambda *weights: character_filters.filter_characters(WORDS, *weights),
        "_Filters",
        ((5, 4), (6, 3 * 4), (6,)),
    ),
}


@pytest.fixture(params=KERNELS)
def kernel(request):
    module, compute, kind, shapes = KERNELS[request.param]
    if reason := module.unsupported_reason():
        pytest.skip(reason)
    torch.manual_seed(0)
    return module, compute, kind, [torch.randn(shape, requires_grad=True) for shape in shapes]


def differentiate(found: Tensor, given: list[Tensor]) -> list[Tensor]:
    torch.manual_seed(1)
    return [found.detach(), *torch.autograd.grad(found, given, torch.randn(found.shape).to(found.dtype))]


def test_the_library_computes_plain_numbers_and_torch_the_same_without_it(kernel, monkeypatch):
    module, compute, kind, given = kernel
    found = compute(*given)
    assert kind in found.grad_fn.name()
    monkeypatch.setattr(module, "unsupported_reason", lambda: "there is no compiler")
    plain = compute(*given)
    assert kind not in plain.grad_fn.name()
    for one, other in zip(differentiate(found, given), differentiate(plain, given), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_numbers_of_another_precision_are_left_to_torch(kernel):
    _, compute, kind, given = kernel
    wide = [t.detach().double().requires_grad_() for t in given]
    if kind != "_SoftmaxNLL":  # its weights, too, would have to be
        assert kind not in compute(*wide).grad_fn.name()


def test_numbers_of_things_that_torch_alone_takes_are_left_to_it():
    z = torch.randn(2, 4, 10, requires_grad=True)
    narrow = [count.int() for count in COUNTS]
    for given in (narrow, [*COUNTS[:2], narrow[2]], [COUNTS[0], *narrow[1:]]):
        assert "_CTC" not in spell(z, *given).grad_fn.name()
        torch.testing.assert_close(spell(z, *given), spell(z), rtol=1e-4, atol=1e-5)


def test_gaps_between_rows_are_left_to_torch():
    z, own = torch.randn(3, 10)[:, ::2].requires_grad_(), torch.randn(3)
    gaps = logsumexp.logsumexp_beside(z, own, torch.tensor([0, 5, 3]))
    torch.testing.assert_close(gaps, add_beside(z, own))


@pytest.mark.parametrize("limit", [0.0, 1.0, 1e3])
def test_norms_and_means_are_the_same_without_a_library(limit, monkeypatch):
    def run() -> list[Tensor]:
        torch.manual_seed(0)
        gradients, means, latest = ([torch.randn(3, 4), torch.randn(7)] for _ in range(3))
        norm = many_tensors.clip_norm(gradients, limit)
        many_tensors.move_towards(means, latest, 0.25)
        return [norm, *gradients, *means]

    found = run()
    monkeypatch.setattr(many_tensors, "unsupported_reason", lambda: "there is no compiler")
    for one, other in zip(found, run(), strict=True):
        torch.testing.assert_close(one, other)
