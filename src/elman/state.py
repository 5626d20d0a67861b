"""States are values: a tensor, or a tuple of states. Every tensor has the batch axis first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor
from torch.utils._pytree import register_pytree_node

from elman.errors import ModelError

S = TypeVar("S")


@runtime_checkable
class HasMode(Protocol):
    """What `eval_mode` needs of a network: a ``torch.nn.Module`` has it."""

    @property
    def training(self) -> bool:
        """Whether dropout is on."""

    def modules(self) -> Iterator[Any]:
        """Itself and all of its parts."""


N = TypeVar("N", bound=HasMode)


@contextmanager
def eval_mode(net: N) -> Iterator[N]:
    """The network without dropout; afterwards each of its parts is in the mode in which it was."""
    # Walking over all parts costs as much as reading a word: only where there is something to change.
    trained = [part for part in net.modules() if part.training] if net.training else []
    for part in trained:
        part.training = False
    try:
        yield net
    finally:
        for part in trained:
            part.training = True


class State(tuple[Any, ...]):
    """A tuple whose parts have names: ``State(h=h, c=c)``; then ``state.h``, ``h, c = state``."""

    names: tuple[str, ...]

    def __new__(cls, **parts: Any) -> State:
        state = super().__new__(cls, tuple(parts.values()))
        state.names = tuple(parts)
        return state

    def __getattr__(self, name: str) -> Any:
        if name in self.names:
            return self[self.names.index(name)]
        raise AttributeError(f"no part {name!r} in a state of {', '.join(self.names)}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _state_of, (self.names, tuple(self))

    def __repr__(self) -> str:
        parts = (f"{name}={value!r}" for name, value in zip(self.names, self, strict=True))
        return f"State({', '.join(parts)})"

    def replace(self, **parts: Any) -> State:
        """The same state with these parts changed."""
        return State(**{**dict(zip(self.names, self, strict=True)), **parts})


def _state_of(names: tuple[str, ...], values: tuple[Any, ...]) -> State:
    return State(**dict(zip(names, values, strict=True)))


# `torch.func` and `torch.export` look into what functions take and return.
register_pytree_node(
    State,
    lambda state: (list(state), state.names),
    lambda values, names: _state_of(tuple(names), tuple(values)),
    serialized_type_name="elman.State",
    to_dumpable_context=list,
    from_dumpable_context=tuple,
)


def map_state(f: Callable[..., Tensor], *states: S) -> S:
    """Apply ``f`` to corresponding tensors; the result is built like the states."""
    first = states[0]
    if isinstance(first, Tensor):
        return cast(S, f(*states))
    if not isinstance(first, tuple):
        raise ModelError(f"a state is a tensor or a tuple of states, not a {type(first).__name__}")
    columns = zip(*cast("tuple[tuple[Any, ...], ...]", states), strict=True)
    parts = tuple(map_state(f, *column) for column in columns)
    return cast(S, _state_of(first.names, parts) if isinstance(first, State) else parts)


def leaves(state: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a state with its path: ``("0.h", tensor)``."""
    if isinstance(state, Tensor):
        yield path, state
        return
    names = state.names if isinstance(state, State) else map(str, range(len(state)))
    for name, part in zip(names, state, strict=True):
        yield from leaves(part, f"{path}.{name}" if path else name)


def keep(mask: Tensor, new: S, old: S) -> S:
    """Row by row, ``new`` where the mask (B,) is true and ``old`` elsewhere."""

    def choose(a: Tensor, b: Tensor) -> Tensor:
        return torch.where(mask.view(-1, *[1] * (a.dim() - 1)), a, b)

    return map_state(choose, new, old)


def pick(state: S, rows: Tensor) -> S:
    """Batch rows by number: how a beam reorders its hypotheses."""
    return map_state(lambda t: t.index_select(0, rows), state)


def repeat(state: S, copies: int) -> S:
    """Each row ``copies`` times in succession: room for beams, or for several samples."""
    return map_state(lambda t: t.repeat_interleave(copies, dim=0), state)


def detach(state: S) -> S:
    """The same values, cut from the graph: what truncated backpropagation carries over."""
    return map_state(lambda t: t.detach(), state)


def shard_slice(count: int, rank: int, size: int) -> slice:
    """The part of ``count`` batch rows in succession that one of ``size`` processes has."""
    return slice(rank * count // size, (rank + 1) * count // size)


def to_bytes(state: Any) -> bytes:
    """A state as the bytes of a safetensors file; its tensors are named by number and path."""
    parts = enumerate(leaves(state))  # safetensors keeps no order
    return save_tensors({f"{i:04}:{path}": t.detach().contiguous() for i, (path, t) in parts})


def from_bytes(data: bytes) -> Any:
    """The state that ``to_bytes`` wrote, on the CPU."""
    try:
        tensors = load_tensors(data)
    except SafetensorError as error:
        raise ModelError(f"these bytes are not a saved state: {error}") from None
    tree: dict[str, Any] = {}
    for key in sorted(tensors):
        tensor, path = tensors[key], key.partition(":")[2]
        if not path:
            return tensor
        *parents, leaf = path.split(".")
        branch = tree
        for name in parents:
            branch = branch.setdefault(name, {})
        branch[leaf] = tensor
    return _grow(tree)


def _grow(tree: dict[str, Any]) -> Any:
    parts = {name: _grow(part) if isinstance(part, dict) else part for name, part in tree.items()}
    if all(name.isdigit() for name in parts):
        return tuple(parts[name] for name in sorted(parts, key=int))
    return State(**parts)
