"""What a page cannot run is said in one sentence; what it can is described whole."""

import json

import pytest
import tokenizers

from elman.cells import GRU, LSTM, Mogrifier, Zoneout
from elman.errors import ModelError
from elman.formula.operation import OPS
from elman.live_page.describe_cell import describe_cell
from elman.live_page.describe_tokenizer import describe_tokenizer
from elman.live_page.operation_script import print_operations
from elman.live_page.page_file import describe_model
from elman.live_page.page_parts import PageParts
from elman.live_page.weight_table import WeightTable
from elman.text.subword_tokenizer import SubwordTokenizer
from tests.live_page.models import classifier, language_model
from tests.own_cells import Recall


def parts() -> PageParts:
    return PageParts({}, WeightTable())


def test_a_cell_without_a_formula_is_refused():
    with pytest.raises(ModelError, match=r"^Recall is a cell without a formula; a page prints"):
        describe_cell(Recall(3, 4), parts())


def test_a_part_that_nobody_describes_is_refused():
    with pytest.raises(ModelError, match=r"^the model has a object, which a page cannot run$"):
        parts().describe({"x": [object()]})


def test_what_json_can_hold_is_described_as_it_is():
    assert parts().describe({"a": (1, "b", None), "c": [0.5]}) == {"a": [1, "b", None], "c": [0.5]}


def test_a_page_knows_the_labels_of_its_model():
    task = classifier()
    info = describe_model(task, text="")[0]["info"]
    assert (info["task"], info["labels"]) == ("classifier", list(task.labels.items))
    assert "labels" in describe_model(language_model(), text="")[0]["info"]


def test_masks_of_zoneout_are_described_with_their_rates():
    found = describe_cell(Zoneout(GRU(3, 4), 0.25), parts())
    assert [*found["masks"].values()] == [0.25]
    assert describe_cell(GRU(3, 4), parts())["masks"] == {}


def test_of_a_mogrified_cell_each_gate_has_its_bias_and_none_a_matrix():
    cell = Mogrifier(LSTM(3, 4), rounds=2)
    found = describe_cell(cell, parts())
    *gates, raw = cell.formula.gates
    assert found["raw"] == raw
    assert [*found["gates"]] == [*gates, raw]
    assert all(found["gates"][gate]["W"] is None for gate in (*gates, raw))
    assert [found["gates"][gate]["b"]["rows"] for gate in gates] == [[4 * i, 4 * i + 4] for i in range(4)]
    assert found["gates"][raw]["b"] is None
    assert describe_cell(LSTM(3, 4), parts())["raw"] is None


def test_a_tokenizer_that_elman_did_not_make_is_refused():
    pieces = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, []))
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    with pytest.raises(ModelError, match=r"^the tokenizer was not made by Elman"):
        describe_tokenizer(SubwordTokenizer(pieces))
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    assert describe_tokenizer(SubwordTokenizer(pieces))["kind"] == "bpe"
    pieces.normalizer = tokenizers.normalizers.NFC()
    with pytest.raises(ModelError, match=r"^the tokenizer was not made by Elman"):
        describe_tokenizer(SubwordTokenizer(pieces))


def test_operations_are_printed_with_the_letters_of_their_table():
    rows = {
        line.split(":")[0].strip().strip('"'): line
        for line in print_operations().splitlines()
        if "arity" in line
    }
    assert [*rows] == [*OPS]
    signs = {"add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "neg": "-{0}"}
    for name, op in OPS.items():
        assert f"latex: {json.dumps(signs.get(name, op.latex))}," in rows[name]
        assert f"text: {json.dumps(signs.get(name, op.text), ensure_ascii=False)}," in rows[name]
        assert f"arity: {2 if name in ('add', 'sub', 'mul') or '{1}' in op.c else 1}," in rows[name]
