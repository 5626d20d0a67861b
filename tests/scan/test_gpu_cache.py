"""What was measured on a GPU, and kernels for it, are kept on disk: found again, or made again."""

import pytest
import torch

from elman.cells import GRU, LSTM
from elman.scan.executors.cuda import nvrtc
from elman.scan.executors.cuda.notes import Note
from elman.scan.executors.cuda.nvrtc import CudaError

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


def test_a_kernel_is_compiled_once(monkeypatch):
    made = []
    monkeypatch.setattr(nvrtc, "_version", lambda: (12, 8))
    monkeypatch.setattr(nvrtc, "_compile", lambda *given: made.append(given) or b"machine code")
    found = [nvrtc.compile_kernel(source, "sm_90a") for source in ("a", "a", "b")]
    assert found == [b"machine code"] * 3
    assert made == [("a", "sm_90a"), ("b", "sm_90a")]
    assert nvrtc.compile_kernel("a", "sm_80") == b"machine code"
    assert len(made) == 3


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(nvrtc, "_version", lambda: (12, 8))
    monkeypatch.setattr(nvrtc, "_compile", lambda *given: b"machine code")
    (tmp_path / "away").write_text("a file")
    with pytest.raises(CudaError, match=r"no kernel can be kept in .*native.cuda: "):
        nvrtc.compile_kernel("a", "sm_90a")
