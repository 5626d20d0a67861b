"""What was measured on a GPU is kept on disk: found again, and measured again where it is not whole."""

import pytest
import torch

from elman.cells import GRU, LSTM
from elman.scan.executors.cuda.notes import Note

DEVICE = torch.device("cuda", 0)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ELMAN_CACHE", str(tmp_path / "away" / "native"))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU {device.index}")


def note(formula=GRU.formula, *parts, device=DEVICE):
    return Note(device, formula, ("contest", *parts))


def test_what_is_written_is_read_by_who_asks_the_same():
    assert note().read() is None
    assert note().write({"ours": 1.5}) == {"ours": 1.5}
    assert note().read() == {"ours": 1.5}
    others = [note(LSTM.formula), note(GRU.formula, 3), note(device=torch.device("cuda", 1))]
    assert [other.read() for other in others] == [None] * 3


@pytest.mark.parametrize("content", ["", '{"ours": ', "[1]"])
def test_a_damaged_note_is_none(content):
    note().write({"ours": 1.5})
    note().path.write_text(content)
    assert note().read() is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "away").write_text("a file")
    assert note().write({"ours": 1.5}) == {"ours": 1.5}
    assert note().read() is None
