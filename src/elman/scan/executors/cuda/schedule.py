"""In which order a step multiplies and computes, forward and backward: the phases of a kernel.

A phase multiplies once, by one matrix, then computes what has become known by it. What other phases multiply
is sent on as soon as it is known. The first phase multiplies nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from elman.formula import Node


@dataclass(frozen=True)
class Phase:
    """``product`` is multiplied first (None: none), then these values are computed, by name."""

    product: int | None
    values: Mapping[str, Node]
    sends: tuple[int, ...]  # products whose factor is among the values


def plan_phases(
    factors: Sequence[Mapping[str, Node]],
    others: Mapping[str, Node],
    last: Mapping[str, Node],
    find_product: Callable[[Node], int | None],
    same: Sequence[int] = (),
) -> list[Phase]:
    """The phases of a step.

    ``factors``: what each product multiplies, empty where it is there before the step; ``others``: values that
    are computed as soon as they are known; ``last``: values that are computed at the end. ``find_product`` says
    which product an input is a result of; ``same``: for each product the first that multiplies the same.
    """
    same = same or range(len(factors))

    @cache
    def needs(a: Node) -> frozenset[int]:
        mine = find_product(a) if a.op == "input" else None
        return frozenset([mine] if mine is not None else ()).union(*map(needs, a.operands))

    def known(values: Iterable[Node], done: set[int]) -> bool:
        return all(needs(a) <= done for a in values)

    def is_awaited(k: int) -> bool:
        """Does the factor of a product that is still to be sent depend on this one?"""
        return any(k in needs(a) for j, factor in enumerate(factors) if j not in sent for a in factor.values())

    done: set[int] = set()
    sent = [k for k, factor in enumerate(factors) if not factor and same[k] == k]
    waiting = dict(others)
    phases: list[Phase] = []
    product: int | None = None
    while True:
        unsent = [(k, factor) for k, factor in enumerate(factors) if k not in sent and same[k] == k]
        now = [k for k, factor in unsent if known(factor.values(), done)]
        sent += now
        sent += [k for k, first in enumerate(same) if first in sent and k not in sent]
        values = {name: a for k in now for name, a in factors[k].items()}
        ready = {name: a for name, a in waiting.items() if known([a], done)}
        waiting = {name: a for name, a in waiting.items() if name not in ready}
        at_end = last if len(done) == len(factors) else {}
        phases.append(Phase(product, {**values, **ready, **at_end}, tuple(now)))
        if len(done) == len(factors):
            return phases
        # First what others wait for, then what has been on its way for the longest time.
        product = min((k for k in sent if k not in done), key=lambda k: (not is_awaited(k), sent.index(k)))
        done.add(product)
