"""What tokens cost, to a model that may adapt to the text while it is read."""

from __future__ import annotations

from typing import Any

from elman.layers.replayed import Replayed
from elman.shapes import Bool, Float, Int, Tensor
from elman.tasks.language.cache import Cache
from elman.tasks.language.dynamic import Adaptation, Dynamic
from elman.tasks.writing.predictor import Reader


class Costs:
    """Reads on, window by window: state, memory and weights are those that the one before left.

    ``replayed`` needs windows of one shape. To be called as a network predicts: see `reading`.
    """

    def __init__(
        self,
        net: Reader,
        rows: int,
        *,
        cache: Cache | None = None,
        dynamic: Dynamic | None = None,
        replayed: bool = False,
    ) -> None:
        self.adaptation = Adaptation(net, dynamic) if dynamic else None
        self.net = self.adaptation.net if self.adaptation else net
        self.read = Replayed(net.read) if replayed else net.read
        self.cache = cache
        self.state: Any = net.begin(rows)
        self.memory: Any = None  # the first outputs tell its size

    def __call__(
        self, ids: Int[Tensor, "B T"], targets: Int[Tensor, "B T"], mask: Bool[Tensor, "B T"]
    ) -> Float[Tensor, "B T"]:
        """-log p of each target, which follows the id at its place; the mask says what teaches."""
        if self.adaptation:
            self.state, hs, nats = self.adaptation.read(self.state, ids, targets, mask)
        else:
            self.state, hs = self.read(self.state, ids)
            nats = self.net.output.nats(hs, targets)
        if self.cache:
            memory = self.cache.begin(hs[:, 0]) if self.memory is None else self.memory
            self.memory, nats = self.cache.nats(memory, hs, targets, nats)
        return nats
