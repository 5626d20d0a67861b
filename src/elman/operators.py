"""Functions that compilers and exporters take as a whole: operators of ``torch.library``.

A loop over time that a compiler unrolls takes minutes to compile and fits one length only. As an operator it is
one node of the graph, and its shapes are known for any length. Without a compiler the functions are called as
they are, since to call an operator takes longer than a small step; under `torch.func` too, which looks into
what it transforms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from inspect import unwrap
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch.library import custom_op, infer_schema

from elman.second_derivatives import needs_plain_form

Function = Callable[..., list[Tensor]]
F = TypeVar("F", bound=Callable[..., Any])


_waiting: dict[str, Callable[[], None]] = {}  # operators that no compiler has asked for yet


def as_operator(shapes: Function) -> Callable[[Function], Function]:
    """Decorator: to compilers ``f(tensors, options…)``, which returns tensors, is ``torch.ops.elman.f``.

    ``shapes`` takes the same arguments and returns empty, contiguous tensors like those of f. The gradients are
    those of autograd: the backward operator computes f once more, with autograd. Under vmap f is computed entry
    by entry.
    """

    def make(function: Function) -> Function:
        name = function.__name__
        _waiting[name] = partial(_register, function, shapes)

        @wraps(function)
        def call(tensors: list[Tensor], *options: Any) -> list[Tensor]:
            if not is_opaque():
                return function(tensors, *options)
            operator: Function = getattr(torch.ops.elman, register_operator(name)).default
            return operator(tensors, *options)

        return call

    return make


def _register(function: Function, shapes: Function) -> None:
    name, schema = f"elman::{function.__name__}", infer_schema(unwrap(function), mutates_args=())
    back_schema = schema.replace("(", "(Tensor[] gradients, bool[] wanted, ", 1)

    def compute(tensors: list[Tensor], *options: Any) -> list[Tensor]:
        return _own_memory(function(tensors, *options), tensors)

    def differentiate(
        gradients: list[Tensor], wanted: list[bool], tensors: list[Tensor], *options: Any
    ) -> list[Tensor]:
        found = _differentiate(lambda *inputs: function(list(inputs), *options), tensors, wanted, gradients)
        return _own_memory(found, [*tensors, *gradients])

    forward = custom_op(name, compute, mutates_args=(), schema=schema)
    backward = custom_op(f"{name}_backward", differentiate, mutates_args=(), schema=back_schema)
    forward.register_fake(shapes)
    backward.register_fake(_gradient_shapes)
    forward.register_autograd(_find_gradients_by(backward), setup_context=_keep_inputs)
    for operator in (forward, backward):
        operator.register_vmap(_compute_entries_by(operator))


def as_constant(function: F) -> F:
    """Decorator: a compiler calls the function at once, and keeps what it returns.

    As by `torch.compiler.assume_constant_result`, which would load the compiler: a second at every start.
    """
    function._dynamo_marked_constant = True  # type: ignore[attr-defined]
    return function


@as_constant
def register_operator(name: str) -> str:
    """Tell torch of the operator, the first time that it is asked for: all of them take a tenth of a second."""
    if name in _waiting:
        _waiting.pop(name)()
    return name


def register_operators() -> None:
    """Tell torch of all operators, for programs that were exported in another process."""
    for name in [*_waiting]:
        register_operator(name)


def is_opaque() -> bool:
    """Is the work under way compiled or exported, so that functions may stay closed?"""
    return torch.compiler.is_compiling() and not needs_plain_form()


def _own_memory(results: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    """The results, contiguous, and none in the memory of an input or of another result, as torch asks for."""
    taken = {t.untyped_storage().data_ptr() for t in inputs}
    made = []
    for result in results:
        one = result.detach().contiguous()
        one = one.clone() if one.untyped_storage().data_ptr() in taken else one
        taken.add(one.untyped_storage().data_ptr())
        made.append(one)
    return made


def _differentiate(
    function: Function, tensors: Sequence[Tensor], wanted: Sequence[bool], gradients: Sequence[Tensor]
) -> list[Tensor]:
    """The gradients of the tensors that are wanted."""
    keys = torch._C.DispatchKey
    # Within an operator autograd records nothing, unless it is let in again.
    autograd = torch._C._SetExcludeDispatchKeyGuard(keys.AutogradFunctionality, False)
    views = torch._C._SetExcludeDispatchKeyGuard(keys.ADInplaceOrView, False)
    with torch.enable_grad(), autograd, views:
        inputs = [t.detach().requires_grad_(w) for t, w in zip(tensors, wanted, strict=True)]
        results = function(*inputs)
        varied = [t for t in inputs if t.requires_grad]
        found = torch.autograd.grad(results, varied, gradients, allow_unused=True, materialize_grads=True)
    return list(found)


def _gradient_shapes(
    gradients: list[Tensor], wanted: list[bool], tensors: list[Tensor], *options: Any
) -> list[Tensor]:
    return [t.new_empty(t.shape) for t, w in zip(tensors, wanted, strict=True) if w]


def _keep_inputs(ctx: Any, inputs: tuple[Any, ...], output: list[Tensor]) -> None:
    tensors, *ctx.options = inputs
    ctx.save_for_backward(*tensors)


def _find_gradients_by(backward: Callable[..., list[Tensor]]) -> Callable[..., tuple[Any, ...]]:
    def find_gradients(ctx: Any, gradients: list[Tensor]) -> tuple[Any, ...]:
        wanted = list(ctx.needs_input_grad[0])
        found = iter(backward(gradients, wanted, list(ctx.saved_tensors), *ctx.options))
        return [next(found) if w else None for w in wanted], *(None for _ in ctx.options)

    return find_gradients


def _compute_entries_by(operator: Callable[..., list[Tensor]]) -> Callable[..., tuple[list[Tensor], list[int]]]:
    def compute_entries(info: Any, in_dims: tuple[Any, ...], *arguments: Any) -> tuple[list[Tensor], list[int]]:
        """Each argument is a list of tensors, with the axis of each that vmap runs over, or an option."""

        def entry(argument: Any, dims: Any, i: int) -> Any:
            if not isinstance(dims, list):
                return argument
            return [t if dim is None else t.select(dim, i) for t, dim in zip(argument, dims, strict=True)]

        each = [
            operator(*(entry(a, dims, i) for a, dims in zip(arguments, in_dims, strict=True)))
            for i in range(info.batch_size)
        ]
        joined = [torch.stack(parts) for parts in zip(*each, strict=True)]
        return joined, [0] * len(joined)

    return compute_entries
