"""What a processor can do, by what Linux says of it."""

from pathlib import Path

import pytest

from elman.native import processor

FLAGS = {
    "avx512": "fpu avx2 fma avx512f avx512bw avx512dq avx512vl",
    "avx2": "fpu avx2 fma avx512f",
    "plain": "fpu avx2",
}


@pytest.fixture
def cpuinfo(tmp_path, monkeypatch) -> Path:
    """The file that is read for /proc/cpuinfo; it is not there at first."""
    monkeypatch.setattr(processor, "Path", lambda name: tmp_path / Path(name).name)
    monkeypatch.delenv("ELMAN_NATIVE", raising=False)
    return tmp_path / "cpuinfo"


@pytest.mark.parametrize("level", FLAGS)
def test_the_level_is_the_best_all_of_whose_instructions_are_there(cpuinfo, level, monkeypatch):
    cpuinfo.write_bytes(
        f"vendor_id\t: Another\nmodel name\t: \xff\nflags\t: {FLAGS[level]}\n".encode("latin-1")
    )
    assert processor.find_level.__wrapped__() == level
    assert not processor.is_intel.__wrapped__()
    for asked in FLAGS:
        monkeypatch.setenv("ELMAN_NATIVE", asked)
        lower = [*FLAGS].index(asked) > [*FLAGS].index(level)
        assert processor.find_level.__wrapped__() == (asked if lower else level)


def test_a_processor_of_intel_is_known_by_its_vendor(cpuinfo):
    cpuinfo.write_text("processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t: fpu\n")
    assert processor.is_intel.__wrapped__()


def test_where_the_system_says_nothing_the_processor_is_plain(cpuinfo):
    assert processor.find_level.__wrapped__() == "plain"
    assert not processor.is_intel.__wrapped__()
