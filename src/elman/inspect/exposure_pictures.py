"""A picture of exposure bias."""

from __future__ import annotations

from pathlib import Path

from elman.inspect.exposure import Exposure
from elman.inspect.pictures import figure, save

FEWEST = 5  # sequences that a position must have to be drawn


def draw_exposure(found: Exposure, path: Path) -> None:
    """Costs and rights by position, forced and free; the error that own tokens accumulate."""
    fig, (costs, rights, after) = figure(3, width=5.0, height=3.6)
    for name, run in (("forced: gold is read", found.forced), ("free: own words", found.free)):
        some = run.counts >= min(FEWEST, run.counts.max(initial=0))
        places = [i + 1 for i, enough in enumerate(some) if enough]
        costs.plot(places, run.nats[some], marker=".", label=name)
        rights.plot(places, 100 * run.right[some], marker=".", label=name)
    costs.set(title="What a token costs", xlabel="position", ylabel="-log p, nats")
    rights.set(title="Right tokens", xlabel="position", ylabel="right, %")
    steps = range(1, len(found.excess) + 1)
    after.bar(steps, found.excess, color="C3", label="each step")
    after.plot(steps, found.accumulated, color="black", marker=".", label="accumulated")
    after.set(
        title="What a token costs after k own ones",
        xlabel="k, own tokens read before",
        ylabel="nats more than after gold",
    )
    for ax in (costs, rights, after):
        ax.legend(fontsize=8)
        ax.grid(alpha=0.3)
        ax.xaxis.get_major_locator().set_params(integer=True)
    save(fig, path)
