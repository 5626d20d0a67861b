"""The likeliest tokens of one distribution, by C++, or numpy: both cost a fraction of torch on so little."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from elman.kernels.token_ranking import rank_tokens
from elman.shapes import Float, Tensor


def likeliest(logits: Float[Tensor, " V"], barred: Sequence[int], k: int) -> list[tuple[float, int]]:
    """The k greatest probabilities among all but the barred tokens, greatest first, and whose they are.

    Of equal ones the lower token comes first; there are fewer where fewer are above zero.
    """
    ranked = rank_tokens(logits, barred, k)
    if ranked is not None:
        return ranked
    wide = logits if logits.dtype == torch.float64 else logits.float()
    scores = wide.detach().cpu().numpy().copy()
    scores[list(barred)] = -np.inf
    masses = np.exp(scores - scores.max())
    masses /= masses.sum()
    some = np.arange(len(masses))
    if k < len(masses):
        edge = np.partition(masses, len(masses) - k)[len(masses) - k]
        some = np.flatnonzero(masses >= edge)
    best = some[np.argsort(-masses[some], kind="stable")][:k]
    pairs = zip(masses[best].tolist(), best.tolist(), strict=True)
    return [(mass, i) for mass, i in pairs if mass > 0]
