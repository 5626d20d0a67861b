"""Training that would not fit in memory is refused before its first update, with what to change."""

from __future__ import annotations

from typing import Any

from torch import nn

from elman.free_memory import check_memory
from elman.number_format import format_size
from elman.pipeline.recipe import Recipe
from elman.tasks.network_memory import estimate_activations
from elman.training.distributed import count_processes
from elman.training.optimizers import count_copies

_CERTAIN = 0.5  # of what is estimated for a batch, which is right within a factor of two: what may fit is tried


def check_training_memory(recipe: Recipe, net: nn.Module, batches: Any, device: str) -> None:
    """Refuse a run whose gradients, optimizer, best weights and largest batch need more than is free."""
    tokens, longest = recipe.task_class.largest_batch(batches)
    samples = getattr(recipe.objective, "samples", 0)  # drawn and scored beside what is right
    tokens = -(-tokens * (1 + samples) // count_processes())
    weights = sum(p.numel() * p.element_size() for p in net.parameters())
    copies = 2 + count_copies(recipe.training)  # the gradients and the best weights, too
    activations = estimate_activations(net, tokens, longest)
    option = "data.batch_tokens" if hasattr(recipe.data, "batch_tokens") else "data.streams or data.bptt"
    change = "a smaller model.hidden" if copies * weights > activations else f"a smaller {option}"
    parts = f"{format_size(copies * weights)} for the weights, {format_size(activations)} for {tokens:,} tokens"
    longer = ", or shorter texts" if longest > tokens // 2 else ""
    least = copies * weights + _CERTAIN * activations
    check_memory(least, f"training ({parts})", f"take {change}{longer}", device)
