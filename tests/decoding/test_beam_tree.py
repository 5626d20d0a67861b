"""A beam search as a tree: by hand, and what holds for any."""

import math

import pytest

from elman.decoding import Beam, format_tree, grow_tree
from tests.decoding.tables import table
from tests.decoding.test_beam_width import STOP, told

LETTERS = "_.ab"


def grown(beam, limit=10, **options):
    events, [best] = told(beam, limit)
    return grow_tree(events, best, LETTERS.__getitem__, start=">", **options)


def test_what_was_kept_and_what_was_pruned_is_told_with_its_reason():
    tree = grown(Beam(width=3, factor=1.3, length_penalty=0), limit=3)
    # one step: . (.4), a (.35) are kept, b (.25) is too far; then nothing can come to .4 again
    assert format_tree(tree).splitlines() == [
        ">",
        "├─ .  -0.92  best",
        "├─ a  -1.05  left: nothing that goes on can win any more",
        "└─ b  -1.39  pruned: too far from the best",
    ]
    assert tree.closed == "bound"


def test_a_hypothesis_whose_continuations_are_all_pruned_is_lost():
    tree = grown(Beam(width=2, length_penalty=0, n_best=2, narrow=False), limit=2, pruned=0)
    assert [(n.text, n.fate) for n in tree.nodes[1:3]] == [(".", "best"), ("a", "kept")]
    tree = grown(Beam(width=3, length_penalty=0, n_best=3), limit=10, pruned=0)
    assert ("a", "kept") in [(n.text, n.fate) for n in tree.nodes]
    assert [n.text for n in tree.nodes if n.fate == "best"] == [".", ".", "b"]


@pytest.mark.parametrize(("width", "factor"), [(3, None), (3, 6.0), (7, None)])
def test_every_node_hangs_on_one_that_was_kept_and_costs_more(width, factor):
    model = table(5, size=width + 3, sentences=1)
    beam, limits = Beam(width=width, factor=factor), {"start": model.start, "stop": STOP, "limit": 6}
    search, events = beam.trace(model.step, model.state, **limits), []
    while True:
        try:
            events.append(next(search))
        except StopIteration as over:
            [best] = over.value
            break
    tree = grow_tree(events, best, str, pruned=20)
    for node in tree.nodes[1:]:
        parent = tree.nodes[node.parent]
        assert parent.fate == "kept"
        assert node.score <= parent.score
    lost = [node for node in tree.nodes if node.pruned]
    assert len(lost) == sum(min(20, e.beyond_factor + e.beyond_width) for e in events)
    for event in events:
        worst = min(one.score for one in event.kept)
        assert len(event.pruned) == min(20, event.beyond_factor + event.beyond_width)
        for hypothesis, reason in event.pruned:
            assert hypothesis.score <= worst
            assert sum(hypothesis.log_probs) == pytest.approx(hypothesis.score)
            far = event.kept[0].score - hypothesis.score > math.log(factor or math.inf)
            assert (reason == "factor") == far
    assert max(tree.depths()) == len(events)
