"""What is free is the least of what the machine, the control groups and the limits of the process leave."""

from __future__ import annotations

import os
import resource
from math import inf
from pathlib import Path

import pytest
import torch

from elman import free_memory as module
from elman.errors import ConfigError
from elman.free_memory import check_memory, free_memory

GB = 10**9


def machine(root: Path, available: int = 8 * GB) -> Path:
    """A file system whose /proc says how much is available."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable: {available // 1024} kB\n")
    return root


def group(root: Path, line: str, folder: str, files: dict[str, str]) -> None:
    (root / "proc/self/cgroup").write_text(line)
    inner = root / "sys/fs/cgroup" / folder
    inner.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (inner / name).write_text(text)


def test_a_machine_without_limits_has_what_it_says(tmp_path: Path) -> None:
    assert free_memory(root=machine(tmp_path)) == pytest.approx(8 * GB, rel=1e-3)


def test_the_limit_of_a_container_counts_and_pages_of_files_are_given_back(tmp_path: Path) -> None:
    stat = "anon 5\ninactive_file 1000000\n"
    files = {"memory.max": f"{2 * GB}\n", "memory.current": f"{GB}\n", "memory.stat": stat}
    group(machine(tmp_path), "0::/job:1/step\n", "job:1", files)
    assert free_memory(root=tmp_path) == 2 * GB - GB + 1_000_000


def test_the_older_control_groups_count_too(tmp_path: Path) -> None:
    files = {"memory.limit_in_bytes": f"{3 * GB}\n", "memory.usage_in_bytes": f"{GB}\n"}
    group(machine(tmp_path), "4:cpu:/x\n3:memory:/x\n", "memory/x", files)
    assert free_memory(root=tmp_path) == 2 * GB


def test_a_group_without_a_limit_leaves_all(tmp_path: Path) -> None:
    group(machine(tmp_path), "0::/\n", "", {"memory.max": "max\n", "memory.current": "5\n"})
    assert free_memory(root=tmp_path) == pytest.approx(8 * GB, rel=1e-3)


def test_the_limit_of_the_process_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = machine(tmp_path)
    (root / "proc/self/status").write_text("Name: x\nVmSize: 1000000 kB\n")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (2 * GB, 2 * GB))
    assert free_memory(root=root) == 2 * GB - 1_024_000_000


def test_more_than_is_used_is_not_free(tmp_path: Path) -> None:
    files = {"memory.max": "10\n", "memory.current": "20\n"}
    group(machine(tmp_path), "0::/\n", "", files)
    assert free_memory(root=tmp_path) == 0


def test_on_a_gpu_what_torch_holds_and_does_not_use_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (5 * GB, 9 * GB))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 4 * GB)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 3 * GB)
    assert free_memory("cuda:0") == 6 * GB


def test_what_does_not_fit_is_refused_with_both_sizes_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "free_memory", lambda device: 4.5 * GB)
    check_memory(4.5 * GB, "it", "x")
    said = r"^the weights would need about 5\.0 GB, but 4\.5 GB are free here: take fewer$"
    with pytest.raises(ConfigError, match=said):
        check_memory(5 * GB, "the weights", "take fewer")


def test_a_system_that_says_nothing_has_all_the_memory_that_is_asked_for(tmp_path, monkeypatch) -> None:
    assert free_memory(root=tmp_path) < inf, "how much is built in"

    def refuse(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(os, "sysconf", refuse)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert free_memory(root=tmp_path) == inf
