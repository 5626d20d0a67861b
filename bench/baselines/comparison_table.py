"""The table of the bench in Markdown: ours, the best of the others, and the difference."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev

from baselines import LOWER_IS_BETTER, OURS, Outcome
from baselines.bench_sets import NAMES

HEADER = ("corpus", "ours (seconds)", "best alternative (seconds)", "difference", "the others")


def show_table(outcomes: Sequence[Outcome]) -> str:
    """A line for each corpus, in the order of the bench."""
    lines = [HEADER, ("---",) * len(HEADER)]
    for corpus in NAMES:
        systems: dict[str, list[Outcome]] = {}
        for outcome in {o.key: o for o in outcomes if o.corpus == corpus}.values():
            systems.setdefault(outcome.system, []).append(outcome)
        if systems:
            lines.append(_compare(corpus, systems))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _compare(corpus: str, systems: dict[str, list[Outcome]]) -> tuple[str, ...]:
    ours = systems.get(OURS, [])
    (metric,) = {outcome.metric for some in systems.values() for outcome in some}
    sign = -1 if metric in LOWER_IS_BETTER else 1
    others = sorted((name for name in systems if name != OURS), key=lambda name: -sign * _mean(systems[name]))
    texts = [f"{name} {_show(systems[name])}" for name in others]
    difference = "–"
    if ours and others:
        better = sign * (_mean(ours) - _mean(systems[others[0]]))
        difference = f"**{better:+.2f}**" if better > 0 else f"{better:+.2f}"
    first = f"{corpus}, {metric.replace('_', ' ')}"
    return (
        first,
        _show(ours) if ours else "–",
        texts[0] if texts else "–",
        difference,
        "; ".join(texts[1:]) or "–",
    )


def _mean(outcomes: Sequence[Outcome]) -> float:
    return mean(outcome.score for outcome in outcomes)


def _show(outcomes: Sequence[Outcome]) -> str:
    """Mean, standard deviation where there are several, and seconds."""
    spread = f" ± {stdev(outcome.score for outcome in outcomes):.2f}" if len(outcomes) > 1 else ""
    return f"{_mean(outcomes):.2f}{spread} ({mean(o.seconds for o in outcomes):.0f} s)"
