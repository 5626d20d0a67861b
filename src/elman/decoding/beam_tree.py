"""A beam search as a tree: what was kept, what was pruned, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from elman.decoding.beam_event import BeamEvent
from elman.decoding.hypotheses import Hypothesis

REASONS = {
    "width": "pruned: no place was left in the beam",
    "factor": "pruned: too far from the best",
    "lost": "all that follows was pruned",
    "bound": "left: nothing that goes on can win any more",
}


@dataclass(frozen=True)
class BeamNode:
    """One token of some hypothesis, and what became of the hypothesis that ends with it."""

    text: str  # the token
    parent: int | None  # number of the node before; None of the root
    score: float  # log-probability of all tokens so far
    fate: str = "kept"  # kept, completed, best, lost, width, factor, bound

    @property
    def pruned(self) -> bool:
        return self.fate in ("width", "factor")


@dataclass(frozen=True)
class BeamTree:
    """The nodes of a search, each after its parent; the first one is the root."""

    nodes: list[BeamNode]
    closed: str  # why the search ended: completed, bound, limit, forbidden

    def children(self) -> list[list[int]]:
        """The numbers of the nodes after each node, the likeliest first."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for number, node in enumerate(self.nodes):
            if node.parent is not None:
                found[node.parent].append(number)
        return [sorted(some, key=lambda n: -self.nodes[n].score) for some in found]

    def depths(self) -> list[int]:
        """How many tokens stand before each node, its own counted; 0 of the root."""
        depths: list[int] = []
        for node in self.nodes:
            depths.append(0 if node.parent is None else depths[node.parent] + 1)
        return depths


def grow_tree(
    events: Iterable[BeamEvent],
    best: Sequence[Hypothesis],
    show: Callable[[int], str],
    *,
    start: str = "",
    pruned: int = 3,
) -> BeamTree:
    """The tree of one sentence's search: of each step so many pruned hypotheses, the likeliest.

    ``best`` are the hypotheses that the search returned, ``show`` gives the text of a token, and ``start`` is
    what stands before all of them.
    """
    nodes = [BeamNode(start, None, 0.0)]
    numbers: dict[tuple[int, ...], int] = {(): 0}
    winners, closed = {tuple(one.tokens) for one in best}, ""

    def add(one: Hypothesis, fate: str) -> None:
        *before, last = one.tokens
        numbers[tuple(one.tokens)] = len(nodes)
        nodes.append(BeamNode(show(last), numbers[tuple(before)], sum(one.log_probs), fate))

    for event in events:
        closed = event.closed or closed
        for one, ended in zip(event.kept, event.ended, strict=True):
            going = "bound" if event.closed == "bound" else "kept"
            completed = "best" if tuple(one.tokens) in winners else "completed"
            add(one, completed if ended else going)
        for lost in event.pruned[:pruned]:
            add(lost.hypothesis, lost.reason)
    parents = {node.parent for node in nodes}
    for number, node in enumerate(nodes):
        if node.fate == "kept" and number not in parents:
            nodes[number] = replace(node, fate="lost")
    return BeamTree(nodes, closed)


def format_tree(tree: BeamTree) -> str:
    """The tree as lines of text: each token with the log-probability so far, and why a branch ends."""
    children, lines = tree.children(), [tree.nodes[0].text or "(start)"]
    waiting = [(number, "") for number in reversed(children[0])]
    while waiting:
        number, indent = waiting.pop()
        node = tree.nodes[number]
        siblings = children[node.parent or 0]
        last = number == siblings[-1]
        fate = REASONS.get(node.fate, "" if node.fate == "kept" else node.fate)
        lines.append(f"{indent}{'└─' if last else '├─'} {node.text}  {node.score:.2f}  {fate}".rstrip())
        below = indent + ("   " if last else "│  ")
        waiting += [(child, below) for child in reversed(children[number])]
    return "\n".join(lines)
