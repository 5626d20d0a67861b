"""The picture of a beam search."""

import pytest

from elman.decoding import BeamNode, BeamTree
from elman.inspect import tree_plot
from elman.inspect.tree_plot import plot_tree

NODES = [
    BeamNode("$a long prompt_ that is cut at its beginning", None, 0.0),
    BeamNode("the", 0, -1.0),
    BeamNode("a", 0, -0.5, "lost"),
    BeamNode("dog", 1, -1.5, "best"),
    BeamNode("cat", 1, -1.2, "width"),
    BeamNode("$", 1, -9.0, "factor"),
]


def test_the_answer_is_marked_up_to_the_root_and_every_token_is_there(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr(tree_plot, "save_figure", lambda fig, path: figures.append(fig))
    plot_tree(BeamTree(NODES, "completed"), tmp_path / "a.png", about="model · “$x”")
    (ax,) = figures[0].axes
    texts = {text.get_text(): text for text in ax.texts}
    root, *tokens = texts
    assert root == "…is cut at its beginning"
    assert tokens == ["the -1.0", "a -0.5", "dog -1.5", "cat -1.2", "$ -9.0"]
    bold = [said for said, text in texts.items() if text.get_fontweight() == "bold"]
    assert bold == [root, "the -1.0", "dog -1.5"]
    said = {text.get_text() for text in ax.get_legend().get_texts()}
    assert {"the answer", "all that follows was pruned", "pruned: too far from the best"} <= said


def test_a_long_search_is_cut_and_no_two_branches_share_a_line(tmp_path):
    pytest.importorskip("matplotlib")
    chain = [BeamNode("x", n - 1 if n else None, -float(n)) for n in range(400)]
    plot_tree(BeamTree(chain, "limit"), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000
    heights = tree_plot._heights(BeamTree(NODES, ""))
    ends = [heights[n] for n in (2, 3, 4, 5)]
    assert sorted(ends) == [0, 1, 2, 3]
    assert heights[1] == min(heights[n] for n in (3, 4, 5))
