"""Vectors of words by the words near them: singular vectors of positive pointwise mutual information."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn.functional import pad

from elman.layers.embedding import Embedding
from elman.layers.ngrams import Bags
from elman.shapes import Float, Int, Tensor
from elman.tasks.latent_semantics import find_topics

_NEAR = 10  # words before and behind a word that are near it; each counts 1 / how far it is
_FLAT = 0.75  # power of how often a word is near others: frequent ones count less (Levy et al. 2015)
_MOST = 1_000_000  # words that are read: of more text a part

Ids = npt.NDArray[np.int64]


def write_word_vectors(embed: nn.Module, texts: Sequence[Ids]) -> None:
    """Put the vectors that texts give into an embedding that is not trained yet, as long as its rows were.

    Words that the texts lack keep their rows, and so do embeddings of another kind, such as pretrained ones.
    """
    if not isinstance(embed, Embedding):
        return
    rows = embed.E.weight.data
    found = find_word_vectors(_take_part(texts), *rows.shape)
    seen = found.norm(dim=1) > 0
    length = embed.spread * rows.shape[1] ** 0.5  # as that of rows which are drawn at random
    rows[seen.to(rows.device)] = length * found[seen].to(rows)


def find_word_vectors(texts: Sequence[Ids], words: int, size: int) -> Float[Tensor, "V E"]:
    """The row of each word, of length 1, or 0 where it is near no other; words of texts are ids from 1.

    M ≈ U S Vᵀ for M_uv = max(0, log p(u, v) / (p(u) p(v)^¾ / Σ p^¾)), and the rows are those of U √S.
    """
    left, right, often = _count_near(texts, words)
    of_word = torch.zeros(words).index_add_(0, left, often)
    share = of_word**_FLAT / (of_word**_FLAT).sum()
    values = (often / (of_word[left] * share[right])).log()
    kept = values > 0
    M = Bags(left[kept], right[kept], values[kept], words)
    U = find_topics(M, M.transpose(words), size).vectors
    E = U / U.norm(dim=0).sqrt().clamp(min=1e-6)
    E = E / E.norm(dim=1, keepdim=True).clamp(min=1e-6)
    E[torch.bincount(M.rows, minlength=words) == 0] = 0  # not nearly
    return pad(E, (0, size - E.shape[1]))


def _count_near(
    texts: Sequence[Ids], words: int
) -> tuple[Int[Tensor, " N"], Int[Tensor, " N"], Float[Tensor, " N"]]:
    """The words u and v of each pair that are near each other, in the order of u, and how often that is."""
    gap = np.zeros(_NEAR, np.int64)
    line = torch.from_numpy(np.concatenate([part for text in texts for part in (text, gap)]))
    keys, often = torch.zeros(0, dtype=torch.long), torch.zeros(0)
    for distance in range(1, _NEAR + 1):
        one, other = line[:-distance], line[distance:]
        both = (one != 0) & (other != 0)
        pairs = torch.cat([one[both] * words + other[both], other[both] * words + one[both]])
        keys, place = torch.unique(torch.cat([keys, pairs]), return_inverse=True)
        counts = torch.cat([often, torch.full((len(pairs),), 1 / distance)])
        often = torch.zeros(len(keys)).index_add_(0, place, counts)
    return keys // words, keys % words, often


def _take_part(texts: Sequence[Ids]) -> Sequence[Ids]:
    return texts[:: -(-sum(map(len, texts)) // _MOST)]
