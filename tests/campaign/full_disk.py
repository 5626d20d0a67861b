"""Train onto disks that are too small, one size after the other, and look at what is left.

A tmpfs holds a finished model. A run is to replace it (``--overwrite``), and the disk has a little more room
each time: from none at all until the run succeeds. However little there is, the run must end with one sentence
that names a file, and the folder must hold the old model or the new one, whole; nothing half written may stay.
Where nothing may be mounted, or with ``--limit``, a limit on the size of a file stands for the disk; it can
grow byte by byte, everywhere or around the sizes that files have (``--edges``): in between only the length of
what is written of one file changes.

    python -m tests.campaign.full_disk
    python -m tests.campaign.full_disk --limit --step 1 --seconds 3600
    python -m tests.campaign.full_disk --limit --edges 3
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import accumulate, count
from pathlib import Path
from unittest.mock import patch

import elman
from elman.cli.app import call


@dataclass(frozen=True)
class Disk:
    """A folder of limited room."""

    folder: Path
    mounted: bool

    @contextmanager
    def limited_to(self, room: int) -> Iterator[None]:
        """Within it so many bytes can be written: to the disk or, where nothing is mounted, to a file."""
        if self.mounted:
            disk = os.statvfs(self.folder)
            _mount(self.folder, "remount", (disk.f_blocks - disk.f_bfree) * disk.f_frsize + room)
            try:
                yield
            finally:
                _mount(self.folder, "remount", 1 << 30)
            return
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def open_disk(limit: bool) -> Iterator[Disk]:
    """A tmpfs, or a temporary folder where files are limited."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "disk"
        folder.mkdir()
        mounted = not limit and _mount(folder, "", 1 << 30)
        try:
            yield Disk(folder, mounted)
        finally:
            if mounted:
                subprocess.run(["umount", str(folder)], check=True)


def _mount(folder: Path, how: str, size: int) -> bool:
    options = ",".join(filter(None, [how, f"size={max(size, 4096)}"]))
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    return shutil.which("mount") is not None and not subprocess.run(command, capture_output=True).returncode


def write_table(path: Path, rows: int, seed: int) -> None:
    """Sentences whose label is one of their words."""
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        print("text\tlabel", file=file)
        for number in range(rows):
            words = rng.choices([f"w{i}" for i in range(30)], k=6)
            label = ("left", "right")[number % 2]
            print(" ".join([*words, label]), label, sep="\t", file=file)


def train(data: Path, out: Path, *options: str) -> tuple[int, str]:
    """``elman train`` in this process: its exit code, and what it said on stderr."""
    files = [f"--{part}={data / part}.tsv" for part in ("train", "valid")]
    command = ["elman", "train", "classifier", *files, f"--out={out}", *options]
    command += ["--hidden=4", "--set=model.embedding=4", "--threads=1", "--epochs=2"]
    said, printed = io.StringIO(), io.StringIO()
    with patch.multiple(sys, argv=command, stderr=said, stdout=printed):
        return call(), said.getvalue()


def attempt(disk: Disk, data: Path, saved: Path, room: int, checked: bool) -> str:
    """One run with this much room; which model is left. Whatever is wrong is an AssertionError."""
    out = disk.folder / "m"
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(saved, out)
    unchecked = nullcontext() if checked else patch("elman.pipeline.train_recipe.check_room")
    with disk.limited_to(room), unchecked:
        code, said = train(data, out, "--overwrite", "--seed=1")
    left = [path.name for path in out.rglob("*") if path.name.endswith(".tmp") or path.name == ".new"]
    assert not left, f"left behind: {left}"
    model = elman.load(out, elman.Classifier)
    assert model.classify(["w1 w2 left"])
    weights = (out / "model.safetensors").read_bytes()
    new = weights != (saved / "model.safetensors").read_bytes()
    if code == 0:
        assert new, "it said that it had succeeded, and the old model is there"
        return "new model"
    lines = [line for line in said.splitlines() if line.startswith("elman: ")]
    assert code == 1, f"exit code {code}: {said}"
    assert len(lines) == 1, said
    assert "Traceback" not in said, said
    assert str(disk.folder) in lines[0], f"no file is named: {lines[0]}"
    return "new model" if new else "old model"


def run_campaign(
    step: int, seconds: float, *, limit: bool = False, checked: bool = False, edges: int = 0
) -> Counter[str]:
    """All sizes from nothing to success, or around the sizes of files; how often which model was left."""
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name, open_disk(limit) as disk:
        data, saved = Path(name), Path(name) / "saved"
        write_table(data / "train.tsv", 40, 0)
        write_table(data / "valid.tsv", 10, 1)
        code, said = train(data, saved)
        assert code == 0, said
        begun, room = time.monotonic(), 0
        for room in find_edges(saved, edges) if edges else count(0, step):
            if time.monotonic() - begun > seconds or (ends["new model"] >= 3 and not edges):
                break
            try:
                ends[attempt(disk, data, saved, room, checked)] += 1
            except AssertionError as error:
                ends["wrong"] += 1
                print(f"--room {room}: {error}", file=sys.stderr)
        kind = "tmpfs" if disk.mounted else "file size limit"
    how = f"within {edges} bytes of a file's" if edges else f"in steps of {step:,}"
    print(f"{kind}, {sum(ends.values())} sizes up to {room:,} bytes {how}: {dict(ends)}")
    return ends


def find_edges(folder: Path, near: int) -> list[int]:
    """The sizes of all files, and of all lines written so far of those that grow, and those next to them."""
    sizes = {path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    for path in folder.rglob("*.jsonl"):
        sizes |= {*accumulate(map(len, path.read_bytes().splitlines(keepends=True)))}
    return sorted({size + d for size in sizes for d in range(-near, near + 1) if size + d >= 0})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--step", type=int, default=4096, help="bytes of room more each time (tmpfs: pages)")
    parser.add_argument("--seconds", type=float, default=600, help="stop after so long")
    parser.add_argument("--limit", action="store_true", help="limit the size of files instead of a disk")
    parser.add_argument("--edges", type=int, default=0, help="only so near to the size of a file, byte by byte")
    parser.add_argument("--checked", action="store_true", help="with the check before the first update")
    options = parser.parse_args()
    ends = run_campaign(**vars(options))
    sys.exit(bool(ends["wrong"]) or not ends["new model"])


if __name__ == "__main__":
    main()
