"""Where a backward pass of one's own is not enough: second derivatives, and what `torch.func` transforms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def differentiate_plainly(
    function: Callable[..., Tensor | tuple[Tensor, ...]],
    inputs: Sequence[Tensor | None],
    gradients: Sequence[Tensor],
) -> tuple[Tensor | None, ...]:
    """The gradients of a function by autograd, so that they can be differentiated again.

    For the ``backward`` of an ``autograd.Function`` while gradients are recorded (``create_graph``): there a
    hand-made backward pass would return constants without a word. ``function`` is its plain form.
    """
    # Views: where one input was made from another, what it owes to that one is counted elsewhere.
    views = [None if t is None else t.view_as(t) for t in inputs]
    results = function(*views)
    wanted = [view for view in views if view is not None and view.requires_grad]
    seeds = gradients if isinstance(results, tuple) else gradients[0]
    found = iter(torch.autograd.grad(results, wanted, seeds, create_graph=True, allow_unused=True))
    return tuple(None if view is None or not view.requires_grad else next(found) for view in views)


def needs_plain_form() -> bool:
    """Is the work under way transformed by `torch.func`, which looks into plain operations only?"""
    return torch._C._are_functorch_transforms_active()
