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


def test_a_picture_has_room_for_its_lines_its_steps_and_its_longest_token(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr(tree_plot, "save_figure", lambda fig, path: figures.append(fig))

    def size(nodes):
        plot_tree(BeamTree(nodes, "limit"), tmp_path / "a.png")
        return figures[-1].get_size_inches().tolist()

    small = size(NODES[:3])
    branches = [NODES[0], *(BeamNode("x", 0, -float(n)) for n in range(12))]
    assert size(branches)[1] == pytest.approx(small[1] + 10 * 0.3)
    deeper = size([*NODES[:3], BeamNode("a", 1, -3.0), BeamNode("a", 3, -3.0)])
    assert deeper[0] > small[0] + 1
    long = size([*NODES[:2], BeamNode("a" * 50, 0, -3.0)])
    assert long[0] > small[0] + 50 * tree_plot.LETTER
    assert size([BeamNode("", None, 0.0), *NODES[1:3]])[0] < small[0]
    ax = figures[-1].axes[0]
    assert ax.texts[0].get_text() == "(start)"


def test_what_was_pruned_is_dotted_and_lies_below_what_was_kept(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    figures = []
    monkeypatch.setattr(tree_plot, "save_figure", lambda fig, path: figures.append(fig))
    plot_tree(BeamTree(NODES, "completed"), tmp_path / "a.png")
    (ax,) = figures[0].axes
    drawn = dict(zip(["the", "a", "dog", "cat", "$"], ax.lines, strict=True))
    assert {name: line.get_linestyle() for name, line in drawn.items()} == {
        **dict.fromkeys(("the", "a", "dog"), "-"),
        **dict.fromkeys(("cat", "$"), ":"),
    }
    assert drawn["cat"].zorder < drawn["a"].zorder < drawn["dog"].zorder
    assert drawn["dog"].zorder == drawn["the"].zorder
    places = {name: [*map(list, line.get_data())] for name, line in drawn.items()}
    heights = tree_plot._heights(BeamTree(NODES, ""))
    for name, n in (("the", 1), ("a", 2), ("dog", 3), ("cat", 4), ("$", 5)):
        parent = NODES[n].parent
        xs, ys = places[name]
        assert (xs[0], xs[-1]) == ((0, 1) if parent == 0 else (1, 2))
        assert (ys[0], ys[-1]) == (heights[parent], heights[n])
        assert xs[1] == xs[2]  # down before the child
        assert xs[0] < xs[1] < xs[3]
    assert ax.get_ylim()[0] > max(heights) > min(heights) > ax.get_ylim()[1]


def test_a_long_search_is_cut_and_no_two_branches_share_a_line(tmp_path):
    pytest.importorskip("matplotlib")
    chain = [BeamNode("x", n - 1 if n else None, -float(n)) for n in range(400)]
    plot_tree(BeamTree(chain, "limit"), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000
    heights = tree_plot._heights(BeamTree(NODES, ""))
    ends = [heights[n] for n in (2, 3, 4, 5)]
    assert sorted(ends) == [0, 1, 2, 3]
    assert heights[1] == min(heights[n] for n in (3, 4, 5))
