"""Attention as a table of a notebook."""

import re

import torch

from elman.tasks.results import Alignment


def test_a_notebook_shows_an_alignment_as_a_table_with_a_cell_for_each_weight():
    weights = torch.tensor([[0.9, 0.05, 0.05], [0.1, 0.6, 0.3]])
    shown = Alignment(["a", " ", "<b>"], ["A", "</s>"], weights)._repr_html_()
    assert re.findall(r"<th>(.*?)</th>", shown) == ["", "a", "␣", "&lt;b&gt;", "A", "&lt;/s&gt;"]
    assert re.findall(r'title="(.*?)"', shown) == ["0.900", "0.050", "0.050", "0.100", "0.600", "0.300"]
    assert re.findall(r">(0[.]\d\d)<", shown) == ["0.90", "0.10", "0.60", "0.30"]
