"""What scoring, writing, completing and streaming need of a language model, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from torch import nn

from elman.decoding.interfaces import FixedStep, Step
from elman.shapes import Float, Int, Tensor
from elman.text.tokenizer import Tokenizer


@runtime_checkable
class LMOutput(Protocol):
    """From what a network has read to the next token."""

    def features(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N H"]:
        """The part of it that is the network's own, by which a cache compares places."""

    def log_probabilities(self, h: Float[Tensor, "*N D"]) -> Float[Tensor, "*N V"]:
        """log p of every token."""

    def nll(self, h: Float[Tensor, "*N D"], targets: Int[Tensor, "*N"]) -> Float[Tensor, "*N"]:
        """-log p of each target."""


@runtime_checkable
class LMNetwork(Protocol):
    """A network that reads tokens one by one; its state is all that it keeps of them."""

    @property
    def output(self) -> LMOutput:
        """From what `read` returns to the next token."""

    def begin(self, rows: int) -> Any:
        """The state before anything is read."""

    def read(self, state: Any, ids: Tensor, mask: Tensor | None = None) -> tuple[Any, Tensor]:
        """The state after ids (B, T), and what the output sees after each of them (B, T, H)."""

    def step(self, state: Any, tokens: Tensor) -> tuple[Any, Tensor]:
        """The state after one token of each row (B,), and the logits of what follows (B, V)."""

    # The rest is as in torch.
    @property
    def training(self) -> bool: ...
    def train(self, mode: bool = True) -> Any: ...
    def modules(self) -> Iterator[nn.Module]: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...


@runtime_checkable
class LMPredictor(Protocol):
    """A language model: text to ids and back around a network."""

    @property
    def tokenizer(self) -> Tokenizer:
        """Its tokens."""

    @property
    def net(self) -> LMNetwork:
        """Its network."""

    @property
    def end(self) -> int:
        r"""The id at the end of every line, read before the first one too: `</s>`, or that of ``\n``."""


@runtime_checkable
class RecordableNetwork(Protocol):
    """A network whose steps a GPU can record."""

    def fixed_step(self) -> FixedStep[Any] | str:
        """The step with the weights as they are now; or why it cannot be recorded."""


def writing_step(net: LMNetwork) -> Step[Any]:
    """The step for texts that are written: on a GPU one that can be recorded, where there is one."""
    if not next(net.parameters()).is_cuda or not isinstance(net, RecordableNetwork):
        return net.step
    fixed = net.fixed_step()
    return net.step if isinstance(fixed, str) else fixed


class NetworkWrapper:
    """A network around another: its parts, its weights and its mode are those of the other."""

    def __init__(self, net: LMNetwork) -> None:
        self.net = net
        self.train, self.modules, self.parameters = net.train, net.modules, net.parameters

    @property
    def training(self) -> bool:
        return self.net.training


@dataclass(frozen=True)
class WrappedLM:
    """The tokens of a language model around another network."""

    tokenizer: Tokenizer
    net: LMNetwork
    end: int
