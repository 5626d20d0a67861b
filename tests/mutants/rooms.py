"""The rooms of the house, how many mutants each gets, and what no test without a GPU can reach."""

import hashlib
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tests.mutants.mutant import Mutant, mutants

# Formulas and algorithms: a wrong number here looks like a right one.
CORE = ("formula", "scan", "cells", "decoding", "objectives", "metrics", "layers/crf")
GOAL = {True: 95, False: 90}  # per cent, in core rooms and elsewhere

# Recorded CUDA graphs, cuDNN, Triton, several processes with NCCL; kernels for tensor cores, which only a GPU
# runs, and what measures them or estimates their speed; what needs Ray, scikit-learn or spaCy.
LEFT_OUT = (
    "cuda_graph.py",
    "decoding/beam_kernels.py",
    "decoding/row_kernels.py",
    "kernels/few_rows_cuda.py",
    "kernels/mixed_products.py",
    "layers/cross_entropy_cuda.py",
    "layers/graph_replay.py",
    "ray/",
    "scan/executors/codegen/fusion_check.py",
    "scan/executors/codegen/triton_fusion.py",
    "scan/executors/cuda/backward_kernel.py",
    "scan/executors/cuda/contest.py",
    "scan/executors/cuda/estimate.py",
    "scan/executors/cuda/forward_kernel.py",
    "scan/executors/cuda/kernel_printer.py",
    "scan/executors/cuda/kernel_recurrence.py",
    "scan/executors/cuda/launch.py",
    "scan/executors/cuda/program.py",
    "scan/executors/cuda/tiling.py",
    "scan/executors/cuda/timing.py",
    "scan/executors/cuda/tuning.py",
    "scan/executors/flat_weights.py",
    "scan/executors/parallel/unit_tuning.py",
    "scan/fused_step.py",
    "shapes.py",
    "sklearn/",
    "spacy/",
    "training/distributed.py",
    "training/graphed_step.py",
)


NEEDS_NODE = ("formula/javascript.py", "live_page/")  # what they print is run by node


def room_of(path: str) -> str:
    """``src/elman/layers/crf/chain.py`` is in layers/crf, ``src/elman/state.py`` in elman."""
    inside = path.removeprefix("src/elman/")
    for name in CORE:
        if inside.startswith(f"{name}/"):
            return name
    return inside.split("/")[0] if "/" in inside else "elman"


def sample(root: Path, seed: int, sizes: dict[bool, int], rooms: list[str]) -> list[Mutant]:
    """So many mutants of each room, in an order that mixes the rooms.

    A mutant is drawn by a hash of its key: who changes one line of a file keeps the sample of the others.
    """
    drawn: dict[str, list[tuple[bytes, Mutant]]] = {}
    for mutant in all_mutants(root):
        room = room_of(mutant.path)
        inside = mutant.path.removeprefix("src/elman/")
        if not rooms or room in rooms or inside.startswith(tuple(rooms)):
            lot = hashlib.sha256(f"{seed} {mutant.key}".encode()).digest()
            drawn.setdefault(room, []).append((lot, mutant))
    chosen = [one for room, lots in drawn.items() for one in sorted(lots)[: sizes[room in CORE]]]
    return [mutant for _, mutant in sorted(chosen)]


def all_mutants(root: Path) -> Iterator[Mutant]:
    left_out = LEFT_OUT if shutil.which("node") else (*LEFT_OUT, *NEEDS_NODE)
    for path in sorted((root / "src" / "elman").rglob("*.py")):
        inside = path.relative_to(root / "src" / "elman").as_posix()
        if not inside.startswith(left_out) and not missing_packages(path.read_text()):
            yield from mutants(root, path)


def missing_packages(source: str) -> list[str]:
    """Optional packages that a file needs and that are not installed: its tests are skipped here."""
    wanted = set(re.findall(r'import_optional\("(\w+)', source))
    wanted |= {"matplotlib"} if re.search(r"\bmatplotlib\b|\bnew_figure\b", source) else set()
    return [name for name in sorted(wanted) if find_spec(name) is None]
