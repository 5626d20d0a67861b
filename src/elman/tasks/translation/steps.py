"""The steps of a network that writes about one batch of sources after the other."""

from __future__ import annotations

from copy import deepcopy

from elman.decoding import Step
from elman.layers.decoder import Attending, Reading
from elman.layers.writer import Inputs, Writer
from elman.shapes import Float, Int, Tensor
from elman.state import State
from elman.tasks.translation.likelihood import last_logits, readable, stepping
from elman.tasks.translation.network import Network
from elman.tasks.translation.writing import Batch


class Steps:
    """`stepping`, quicker: for a network that neither learns nor changes as long as this is in use."""

    def __init__(self, net: Network, precision: str) -> None:
        self.net = deepcopy(net).bfloat16() if precision == "bfloat16" else net
        decoder = self.net.decoder
        self.inputs = Inputs(self.net.target, decoder) if isinstance(decoder, Attending) else None

    def __call__(self, batch: Batch) -> tuple[Step[State], State]:
        """The step before these sources, and the state before anything is written."""
        net, inputs, decoder = self.net, self.inputs, self.net.decoder
        if inputs is None or not isinstance(decoder, Attending):
            return stepping(net, batch)
        session, first = decoder.open(net.encode(batch.source, batch.mask))
        write = Writer(decoder, session)

        def step(state: State, tokens: Int[Tensor, " N"]) -> tuple[State, Float[Tensor, "N V"]]:
            state, o, weights = write(state, inputs(readable(net, tokens)))
            reading = Reading(state, o[:, None], weights[:, None])
            return state, last_logits(net, reading, batch)

        return step, first
