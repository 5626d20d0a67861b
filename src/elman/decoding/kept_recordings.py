"""Recordings that are kept with the network whose step they are of: a second call copies, and replays.

All that a recorded step reads is one of three things. Weights and buffers of the network it reads where they
lie, so that it sees what training makes of them; where another tensor has taken the place of one, or a part of
the network is another, recordings are dropped. Tensors of one call (states, memories of sources, what was cut
out of weights) are copied to where those of the recording lie, always: nobody counts all the ways in which a
weight can change. Plain values are part of the key.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map_only

from elman.cuda_graph import Recording
from elman.decoding.interfaces import FixedStep, Step
from elman.shapes import Tensor
from elman.state import S

_MOST, _MOST_BYTES = 8, 2**29  # recordings of a network, and what they hold, but for the last
_TOLD = (int, float, str, Tensor)  # attributes by which parts of a network are told apart


class Tape(NamedTuple):
    """A recording, and what it reads and writes: tensors that stay where they are, in tuples."""

    recording: Recording
    parts: Any


@dataclass
class Shelf:
    """The recordings of one network that nobody uses at the moment, the latest last."""

    network: Hashable = None  # what it was when they were made
    tapes: OrderedDict[Hashable, Tape] = field(default_factory=OrderedDict)

    def is_full(self) -> bool:
        """Is there more than should be kept?"""
        held = sum(tensor.nbytes for tape in self.tapes.values() for tensor in _tensors(tape.parts))
        return len(self.tapes) > _MOST or held > _MOST_BYTES


# Beside the networks, not in them: a copy of one, or one that is saved, has none. No recording refers to its
# network, so that it goes when the network goes.
_shelves: WeakKeyDictionary[nn.Module, Shelf] = WeakKeyDictionary()
_lock = Lock()


@contextmanager
def open_tape(
    step: FixedStep[S], parts: Any, settings: Hashable, record: Callable[[Step[S], Any], Recording]
) -> Iterator[Tape]:
    """A recording of the step with copies of these parts, for one user: a kept one, or what ``record`` makes.

    Nobody but the user touches the tape until he is done; what he takes with him he copies.
    """
    given = None if step.parts is None else step.parts()
    network = None if given is None else identify_network(given.owner)
    # Under autocast a step reads weights as autocast has converted them, and it forgets those at its end.
    if given is None or network is None or _is_autocast(parts):
        parts = _copy(parts)
        yield Tape(record(step.run, parts), parts)
        return
    whole = parts, given.constants
    key = settings, *map(_describe, tree_leaves(whole)), *_describe_surroundings(parts)
    tape = _take(given.owner, network, key)
    if tape is None:
        whole = _copy(whole)
        tape = Tape(record(given.bind(whole[1]), whole[0]), whole)
    else:
        for old, new in zip(_tensors(tape.parts), _tensors(whole), strict=True):
            old.copy_(new)
    yield Tape(tape.recording, tape.parts[0])
    _put_back(given.owner, network, key, tape)


def identify_network(net: nn.Module) -> Hashable | None:
    """Where its weights lie and what its parts are; None where a hook, or a tensor, may be code in Python."""
    found = list[Hashable]()
    for part in net.modules():
        if part._forward_hooks or part._forward_pre_hooks:
            return None
        found += [id(part), str(type(part))]
        for value in vars(part).values():
            several = value.values() if isinstance(value, dict) else (value,)
            found += [_identify(one) for one in several if isinstance(one, _TOLD)]
    return None if None in found else tuple(found)


def _identify(value: Tensor | float | str) -> Hashable | None:
    if not isinstance(value, Tensor):
        return value
    plain = type(value) in (Tensor, nn.Parameter)
    return (value.data_ptr(), value.shape, value.stride(), value.dtype, value.device) if plain else None


def _describe(leaf: Any) -> Hashable:
    return (leaf.shape, leaf.dtype, leaf.device) if isinstance(leaf, Tensor) else (leaf,)


def _describe_surroundings(parts: Any) -> tuple[Hashable, ...]:
    """What else decides which kernels are recorded, and what may be written to."""
    first = _tensors(parts)[0]
    stream = torch.cuda.current_stream(first.device).cuda_stream if first.is_cuda else None
    precision = torch.backends.cuda.matmul.fp32_precision
    return stream, precision, torch.are_deterministic_algorithms_enabled(), torch.is_inference_mode_enabled()


def _is_autocast(parts: Any) -> bool:
    return torch.is_autocast_enabled(_tensors(parts)[0].device.type)


def _tensors(parts: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(parts) if isinstance(leaf, Tensor)]


def _copy(parts: Any) -> Any:
    return tree_map_only(Tensor, torch.clone, parts)


def _take(owner: nn.Module, network: Hashable, key: Hashable) -> Tape | None:
    with _lock:
        shelf = _shelves.setdefault(owner, Shelf(network))
        if shelf.network != network:
            shelf.network = network
            shelf.tapes.clear()
        return shelf.tapes.pop(key, None)


def _put_back(owner: nn.Module, network: Hashable, key: Hashable, tape: Tape) -> None:
    with _lock:
        shelf = _shelves[owner]
        if shelf.network == network:
            shelf.tapes[key] = tape
            while len(shelf.tapes) > 1 and shelf.is_full():
                shelf.tapes.popitem(last=False)
