"""The steps of a network that writes about one batch of sources after the other."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

from elman.decoding import Step
from elman.layers.decoder import Attending, Reading
from elman.layers.steady import Product
from elman.layers.writer import Inputs, Writer
from elman.shapes import Float, Int, Tensor
from elman.state import State
from elman.tasks.translation.likelihood import readable, stepping, with_copies
from elman.tasks.translation.network import Network
from elman.tasks.translation.writing import Batch


class Steps:
    """`stepping`, quicker: for a network that neither learns nor changes as long as this is in use."""

    def __init__(self, net: Network, precision: str) -> None:
        self.net = deepcopy(net).bfloat16() if precision == "bfloat16" else net
        decoder = self.net.decoder
        self.writing = _Writing(self.net, decoder) if isinstance(decoder, Attending) else None

    def __call__(self, batch: Batch) -> tuple[Step[State], State]:
        """The step before these sources, and the state before anything is written."""
        return (self.writing or partial(stepping, self.net))(batch)


class _Writing:
    """`Steps` of a decoder with attention."""

    def __init__(self, net: Network, decoder: Attending) -> None:
        self.net, self.decoder, self.writer = net, decoder, Writer(decoder)
        self.output = Product(net.softmax.W, net.softmax.b)

    def __call__(self, batch: Batch) -> tuple[Step[State], State]:
        net = self.net
        session, first = self.decoder.open(net.encode(batch.source, batch.mask))
        session = self.writer.open(session)
        inputs = Inputs(net.target, self.decoder)  # what one thread computes, no other reads

        def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
            state, o, weights = self.writer(session, state, inputs(readable(net, tokens)))
            reading = Reading(state, o[:, None], weights[:, None])
            return state, with_copies(net, reading, self.output(net.softmax.P(o)), batch)

        return step, first
