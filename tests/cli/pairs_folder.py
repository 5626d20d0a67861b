"""A folder with pairs of texts and sequence-to-sequence models trained on them in a moment."""

import random
from pathlib import Path

from elman.pipeline import train

WORDS = {"one": "eins", "two": "zwei", "red": "rot", "dog": "Hund", "cat": "Katze", "big": "groß"}
SIZES = {"hidden": 20, "embedding": 20, "layers": 1, "decoder": "luong", "dropout": 0.0}


def pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Sentences of one to four words and their words one by one in German."""
    draw = random.Random(seed)
    texts = [draw.choices([*WORDS], k=draw.randint(1, 4)) for _ in range(count)]
    return [(" ".join(text), " ".join(WORDS[word] for word in text)) for text in texts]


def write(folder: Path, name: str, some: list[tuple[str, str]]) -> None:
    """The pairs as two files and as a table."""
    sources, targets = zip(*some, strict=True)
    (folder / f"{name}.en").write_text("".join(f"{text}\n" for text in sources))
    (folder / f"{name}.de").write_text("".join(f"{text}\n" for text in targets))
    rows = "".join(f"{source}\t{target}\n" for source, target in some)
    (folder / f"{name}.tsv").write_text(f"source\ttarget\n{rows}")


def recipe(folder: Path, seed: int = 0, epochs: int = 15, **model: object) -> dict[str, object]:
    """What trains such a model."""
    return {
        "task": "seq2seq",
        "data": {"train": str(folder / "a.tsv"), "valid": str(folder / "b.tsv"), "batch_tokens": 128},
        "tokens": {"source": {"kind": "words"}, "target": {"kind": "words"}},
        "model": {**SIZES, **model},
        "training": {"lr": 0.02, "epochs": epochs, "seed": seed, "ema_decay": 0.0},
    }


def make(folder: Path) -> None:
    """a.en, a.de, a.tsv to train on, b.* to judge by, and models m and other that know these words."""
    write(folder, "a", pairs(300))
    write(folder, "b", pairs(40, seed=1))
    train(recipe(folder), folder / "m")
    train(recipe(folder, seed=1, epochs=5), folder / "other")
