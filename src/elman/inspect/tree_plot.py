"""A beam search drawn as a tree, from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elman.decoding import BeamTree
from elman.inspect.plots import new_figure, save_figure, set_heading
from elman.inspect.saliency import visible_token

STEPS = 25  # tokens of a search that are drawn
BEFORE = 24  # characters of what stands before them
LETTER = 0.085  # inches that a letter takes, about
STYLES = {
    "best": ("#1a7f37", "the answer"),
    "completed": ("#0969da", "completed, ranked lower"),
    "kept": ("#24292f", "kept"),
    "lost": ("#6e5494", "all that follows was pruned"),
    "bound": ("#9a6700", "left when nothing could win any more"),
    "width": ("#8c959f", "pruned: no place left in the beam"),
    "factor": ("#cf222e", "pruned: too far from the best"),
}


def plot_tree(tree: BeamTree, path: Path, *, about: str = "") -> None:
    """Each token where it was written, likelier branches above; the colour says what became of it."""
    depths, heights, answer = tree.depths(), _heights(tree), _ancestors(tree)
    shown = [n for n, depth in enumerate(depths) if depth <= STEPS]
    labels = {n: _label(tree, n) for n in shown}
    longest, rows = max(depths[n] for n in shown), max(heights[n] for n in shown) + 1
    step = max(0.9, 0.4 + LETTER * max(len(label) for n, label in labels.items() if n))  # inches
    begin = (0.3 + LETTER * len(labels[0])) / step
    fig, (ax,) = new_figure(1, width=(begin + longest + 1) * step, height=1.6 + 0.3 * rows)
    for n in shown:
        node = tree.nodes[n]
        colour = STYLES["best" if n in answer else node.fate][0]
        if node.parent is not None:
            ends = [(depths[k], heights[k]) for k in (node.parent, n)]
            _draw_edge(ax, ends, node.pruned, colour)
        style = {"color": colour, "fontweight": "bold" if n in answer else "normal", "fontsize": 9}
        style |= {"ha": "left" if n else "right", "va": "center", "parse_math": False}
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        ax.text(depths[n], heights[n], labels[n], bbox=box, **style)
    ax.set_xlim(-begin, longest + 1)
    ax.set_ylim(rows - 0.3, -0.7)
    ax.set_axis_off()
    _draw_legend(ax, {tree.nodes[n].fate for n in shown})
    cut = f" (the first {STEPS} of {max(depths)} tokens)" if max(depths) > STEPS else ""
    set_heading(fig, f"Beam search: each token with log p of all so far{cut}", about)
    save_figure(fig, path)


def _label(tree: BeamTree, number: int) -> str:
    """A token with its score; of what stands before all of them the end."""
    node = tree.nodes[number]
    if number:
        return f"{visible_token(node.text)} {node.score:.1f}"
    text = visible_token(node.text) or "(start)"
    return text if len(text) <= BEFORE else f"…{text[1 - BEFORE :]}"


def _heights(tree: BeamTree) -> list[float]:
    """A line for each branch that ends, the likeliest above; a node stands where its likeliest branch does."""
    children, heights, free = tree.children(), [0.0] * len(tree.nodes), 0
    waiting = [0]
    while waiting:
        n = waiting.pop()
        if not children[n]:
            heights[n] = free
            free += 1
        waiting += reversed(children[n])
    for n in reversed(range(len(tree.nodes))):
        if children[n]:
            heights[n] = min(heights[child] for child in children[n])
    return heights


def _ancestors(tree: BeamTree) -> set[int]:
    """The nodes of the answers."""
    found: set[int] = set()
    for n, node in enumerate(tree.nodes):
        at: int | None = n if node.fate == "best" else None
        while at is not None:
            found.add(at)
            at = tree.nodes[at].parent
    return found


def _draw_edge(ax: Any, ends: Sequence[tuple[float, float]], pruned: bool, colour: str) -> None:
    """Along the line of the parent, then down before the child; what was kept lies over what was pruned."""
    (x, y), (to, down) = ends
    turn = to - 0.15
    style = {"color": colour, "linewidth": 0.9 if pruned else 1.6, "linestyle": ":" if pruned else "-"}
    over = 0.0 if pruned else 0.2 if colour != STYLES["best"][0] else 0.4
    ax.plot([x, turn, turn, to], [y, y, down, down], zorder=over, **style)


def _draw_legend(ax: Any, fates: set[str]) -> None:
    """Which colour means what, of those that are drawn."""
    from matplotlib.lines import Line2D

    lines = [
        Line2D([], [], color=colour, label=meaning, linestyle=":" if meaning.startswith("pruned") else "-")
        for fate, (colour, meaning) in STYLES.items()
        if fate in fates
    ]
    ax.legend(handles=lines, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, fontsize=8, frameon=False)
