"""The page as a file: whole, small, and honest about what it cannot run."""

import json
import re

import pytest
import torch

from elman.cells import FormulaCell
from elman.errors import ModelError
from elman.formula import Gates, Matrices, State, formula, tanh
from elman.live_page import build_page, page_file, write_page
from elman.live_page.weight_table import WeightTable
from tests.live_page.models import classifier, language_model, seq2seq
from tests.live_page.runtime import SCRIPTS, needs_node, run_model


def test_a_page_is_one_file_that_asks_for_nothing_from_elsewhere():
    page = build_page(language_model(), text="<b>&")
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#|data:)""", page)
    assert "import " not in re.sub(r'"[^"\n]*"', "", page.split('type="module"')[1])
    data = json.loads(page.split('id="model">')[1].split("</script>")[0])
    assert data["text"] == "<b>&"


def test_a_page_of_a_language_model_opens_with_a_text_that_it_wrote_the_same_each_time():
    task = language_model()
    first, again = (page_file.describe_model(task)[0]["text"] for _ in range(2))
    assert first == again != ""
    assert page_file.describe_model(task, text="")[0]["text"] == ""


def test_weights_are_packed_so_that_the_default_character_model_fits():
    table, weights = WeightTable(), 1_080_000  # of two layers of 256 units
    table.add(torch.randn(100_000) * 0.1)
    scripts = sum(path.stat().st_size for path in SCRIPTS.glob("*.js"))
    assert len(table.pack()["packed"]) / 100_000 * weights + scripts < page_file.LIMIT


def test_a_page_that_would_be_too_large_is_refused_and_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(page_file, "LIMIT", 1000)
    with pytest.raises(ModelError, match=r"train a smaller model.*--half"):
        write_page(language_model(), tmp_path / "page.html")
    assert not [*tmp_path.iterdir()]


def test_weights_that_several_layers_share_are_stored_once():
    table, weight = WeightTable(), torch.randn(3, 4)
    assert table.add(weight) == table.add(weight.detach()) != table.add(weight.clone())
    assert table.pack()["shapes"] == [[3, 4], [3, 4]]


@needs_node
def test_weights_come_back_bit_by_bit(tmp_path):
    task = language_model(layers=1)
    stored = run_model(tmp_path, task, "answer(engine.spec.embed.data)")
    assert torch.equal(torch.tensor(stored).view(-1, 6), task.net.embed.E.weight)


@needs_node
def test_weights_of_16_bits_are_rounded_and_the_page_says_so(tmp_path):
    task = language_model(layers=1)
    code = "answer([engine.spec.embed.data, engine.info.facts])"
    stored, facts = run_model(tmp_path, task, code, half=True)
    assert torch.equal(torch.tensor(stored).view(-1, 6), task.net.embed.E.weight.half().float())
    assert "weights: rounded to 16 bits" in facts


def test_a_weight_that_16_bits_cannot_hold_is_refused():
    table = WeightTable(half=True)
    table.add(torch.tensor([1e6]))
    with pytest.raises(ModelError, match="too large for 16 bits; leave out --half"):
        table.pack()


@formula(gates="h", masks="h")
def masked(x: Gates, U: Matrices, s: State, m: Gates) -> State:
    return State(h=m.h * tanh(x.h + U.h(s.h)))


def test_what_a_page_cannot_run_is_named():
    with pytest.raises(ModelError, match="adaptive softmax"):
        build_page(language_model(softmax="adaptive", tied=False, cutoffs=(5,)))
    with pytest.raises(ModelError, match="transformer encoder"):
        build_page(seq2seq(encoder="transformer", hidden=8))
    with pytest.raises(ModelError, match="copying"):
        build_page(seq2seq(copying=True, label_smoothing=0.0))
    task = classifier(bidirectional=False)
    task.net.encode.cell.cells[0] = FormulaCell(masked, 6, 5)
    with pytest.raises(ModelError, match="'masked' has masks of its own"):
        build_page(task)


def test_every_script_is_part_of_the_page():
    page = build_page(language_model())
    for path in SCRIPTS.glob("*.js"):
        declared = re.findall(
            r"^(?:export )?(?:async )?(?:function|class|const) \w+", path.read_text(), re.MULTILINE
        )
        assert declared[0].removeprefix("export ") in page, f"no script imports {path.name}"
