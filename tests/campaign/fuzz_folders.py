"""Model folders that were damaged, and such as strangers write: refused, or loaded and answering."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import torch
from safetensors.torch import load, save

import elman
from elman.artifact.model_bytes import model_to_files
from elman.artifact.model_digests import with_digests
from elman.tasks.base import PredictOptions, Task
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model.config import LanguageModelConfig
from elman.text.corpus_cache import CorpusCache
from elman.text.tokenizer import build_tokenizer
from tests.campaign.fuzz_corpora import damage
from tests.campaign.harness import Target, main
from tests.tasks import names, topics

VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 7, 1000, 10**6, 10**9, 10**30, -(10**30)),
    *(0.5, -0.0, 1e300, float("nan"), float("inf"), "", "x", "\ud800", "\0", "lstm", "../x", "none"),
    *([], {}, [[]], [1], ["a", "a"], {"a": 1}, {"kind": "x"}),
]
DTYPES = [torch.int8, torch.bool, torch.float16, torch.bfloat16, torch.float64, torch.int64]


@cache
def folders() -> tuple[dict[str, bytes], ...]:
    """Small models of three kinds, as their files."""
    torch.manual_seed(0)
    lm = elman.LanguageModel.from_examples(
        LanguageModelConfig(hidden=4, embedding=4), TokenizerConfig(), ["a b c", "b c a"]
    )
    tagger = names.fresh(characters="cnn", casing=True, affixes=1)
    return tuple(model_to_files(model) for model in (topics.fresh(), tagger, lm))


def write_folder(rng: Random) -> dict[str, bytes]:
    """One of the models in the folder m."""
    shutil.rmtree("m", ignore_errors=True)
    Path("m").mkdir()
    files = rng.choice(folders())
    for name, content in files.items():
        Path("m", name).write_bytes(content)
    return files


def answer(model: Task) -> Any:
    """What a model says of a few texts."""
    if isinstance(model, elman.LanguageModel):
        return model.score("a b c")
    if isinstance(model, elman.Tagger):
        return model.tag([["a", "Paris", "b"]])
    options = PredictOptions(chunks=lambda lines: iter([list(lines)]))
    return [(a.line, a.record) for a in model.predict_rows([("when is the city",)], options)]


@cache
def answer_of(number: int) -> Any:
    with TemporaryDirectory() as folder:
        for name, content in folders()[number].items():
            Path(folder, name).write_bytes(content)
        return answer(elman.load(folder))


def damaged_folders(rng: Random) -> None:
    """A folder with digests is refused, or answers as before: bytes that decide nothing may change."""
    files = write_folder(rng)
    name = rng.choice([*files])
    Path("m", name).write_bytes(damage(rng, files[name]))
    assert answer(elman.load("m")) == answer_of(folders().index(files))


def strange_folders(rng: Random) -> None:
    """A folder in which anything may stand, signed by whoever made it, is refused or answers."""
    files = write_folder(rng)
    name = rng.choice([name for name in files if name not in ("README.md", "run.json", "metrics.json")])
    if name != "model.safetensors":
        edit_json(rng, name)
    elif rng.random() < 0.5:
        Path("m", name).write_bytes(damage(rng, files[name]))
    else:
        edit_weights(rng, files[name])
    config = json.loads(Path("m", "config.json").read_text())
    Path("m", "config.json").write_text(json.dumps(with_digests(config, Path("m"))))
    if rng.random() < 0.05:
        bury_config(rng)
    answer(elman.load("m"))


def edit_json(rng: Random, name: str) -> None:
    """Another value in one place of a file."""
    stored = json.loads(Path("m", name).read_text())
    where, key = rng.choice([*places(stored)])
    where[key] = rng.choice(VALUES)
    Path("m", name).write_text(json.dumps(stored))


def bury_config(rng: Random) -> None:
    """Tables within tables around config.json, or within it."""
    deep, path = rng.choice((40, 60, 990, 100_000)), Path("m", "config.json")
    place = rng.choice(('"data": ', ""))
    path.write_text(path.read_text().replace(place, place + '{"a": ' * deep, 1) + "}" * deep * rng.randrange(2))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value with every key of it."""
    for key in [*value] if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def edit_weights(rng: Random, content: bytes) -> None:
    """One tensor of another type or shape, with another value, or gone."""
    weights = load(content)
    name = rng.choice([*weights])
    tensor = weights[name]
    weights[name] = rng.choice(
        [
            tensor.to(rng.choice(DTYPES)),
            tensor.new_zeros([rng.randrange(4) for _ in range(rng.randrange(4))]),
            torch.full_like(tensor.float(), rng.choice([float("nan"), float("inf"), 1e38, 0.0])),
        ]
    )
    if rng.random() < 0.2:
        del weights[name]
    Path("m", "model.safetensors").write_bytes(save(weights))


def damaged_caches(rng: Random) -> None:
    """Encoded text that was damaged anywhere is encoded anew."""
    shutil.rmtree("cache", ignore_errors=True)  # of another target
    Path("a.txt").write_text("a b c\nb c\n" * 50)
    cache = CorpusCache([Path("a.txt")], build_tokenizer(["a b c"]), Path("cache"))
    before = cache.open().ids.tolist()
    path = rng.choice(sorted(cache.folder.iterdir()))
    path.write_bytes(damage(rng, path.read_bytes()))
    assert cache.open().ids.tolist() == before


TARGETS: dict[str, Target] = {
    "damaged_folders": damaged_folders,
    "strange_folders": strange_folders,
    "damaged_caches": damaged_caches,
}

if __name__ == "__main__":
    main(TARGETS)
