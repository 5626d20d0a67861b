"""How much memory the training of a network needs, from shapes alone: known before anything is allocated.

A matrix reads a number of each token for every column and gives one for every row, and what is read and given
is kept for the backward pass. An embedding gives and reads nothing. Attention keeps a few numbers for each
pair of a position and another one. Measured on all tasks, that is half to twice what training takes.
"""

from __future__ import annotations

from torch import nn

from elman.layers.attention import Additive, Attention
from elman.layers.embedding import PretrainedEmbedding

_NUMBER = 4  # bytes
_WIDE = 2**14  # layers that are wider give their outputs in chunks, or once for a text: a vocabulary, labels
_PER_PAIR = 4  # scores, weights, and the gradients of both


def estimate_activations(net: nn.Module, tokens: int, longest: int) -> int:
    """Bytes that are kept of a batch: so many tokens, padding included, in texts of at most ``longest``."""
    each = sum(map(_numbers_per_token, net.modules()))
    pairs = sum(map(_numbers_per_pair, net.modules()))
    return _NUMBER * tokens * (each + pairs * longest)


def _numbers_per_token(module: nn.Module) -> int:
    if isinstance(module, nn.Embedding | PretrainedEmbedding):
        return sum(p.shape[1] for p in module.parameters(recurse=False))
    matrices = (p.shape[:2] for p in module.parameters(recurse=False) if p.ndim > 1)
    return sum(min(size, _WIDE) for shape in matrices for size in shape)


def _numbers_per_pair(module: nn.Module) -> int:
    if isinstance(module, Attention):
        return _PER_PAIR
    if isinstance(module, nn.MultiheadAttention):
        return _PER_PAIR * int(module.num_heads)
    return int(module.v.numel()) if isinstance(module, Additive) else 0
