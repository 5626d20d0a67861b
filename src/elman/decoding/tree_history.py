"""What the hypotheses of a beam have written: a tree, read back along its branches when somebody asks.

Hypotheses come and go at every step; to copy what each has written would grow with the square of its length.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from elman.decoding.hypotheses import Ints
from elman.decoding.interfaces import History
from elman.shapes import Int, Tensor

TokenLayer = tuple[Ints, Ints]  # of all hypotheses of one length: whom each continues, and its token


class TreeHistory(History):
    """The history of hypotheses, given by their numbers in the last of the layers that there are now."""

    def __init__(self, layers: list[TokenLayer], nodes: Ints, sentence: Int[Tensor, " N"]) -> None:
        # A dataclass that is frozen, and whose tokens are found out here.
        self.__dict__.update(layers=layers, nodes=nodes, sentence=sentence, length=len(layers))

    layers: list[TokenLayer]  # of the search: there may be more by now
    nodes: Ints
    length: int

    @cached_property
    def tokens(self) -> Int[Tensor, "N t"]:
        columns, nodes = np.empty((len(self.nodes), self.length), np.int64), self.nodes
        for place in reversed(range(self.length)):
            parents, tokens = self.layers[place]
            columns[:, place] = tokens[nodes]
            nodes = parents[nodes]
        return torch.from_numpy(columns).to(self.sentence.device)

    @property
    def last(self) -> Int[Tensor, " N"]:
        _, tokens = self.layers[self.length - 1]
        return torch.from_numpy(tokens[self.nodes]).to(self.sentence.device)
