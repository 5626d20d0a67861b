"""The commands of the guides, each page on small files of its own."""

import sys
from pathlib import Path

import pytest

from tests.cli.guide import run_page
from tests.cli.pairs_folder import pairs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")


def test_every_command_of_the_guide_to_language_models_does_what_it_says(tmp_path: Path):
    words = [
        "TRANIO :",
        "I thank you , sir , my lord .",
        "What say you of the priest ?",
        "My lord , I pray",
    ]
    for name, lines in (("book", 200), ("last", 20), ("scene", 10)):
        text = "\n".join(words[i % len(words)] for i in range(lines))
        (tmp_path / f"{name}.txt").write_text(f"{text}\n")
    run_page("language-models.md", tmp_path, "--hidden 8 --embedding 8 --layers 1 --epochs 1")


def test_every_command_of_the_guide_to_translation_does_what_it_says(tmp_path: Path):
    for seed, name in enumerate(("train", "valid", "test", "news")):
        some = pairs(60 if name == "train" else 10, seed)
        for side, ending in enumerate(("en", "fr")):
            lines = "".join(f"{pair[side]}\n" for pair in some)
            (tmp_path / f"{name}.{ending}").write_text(lines)
    (tmp_path / "second.fr").write_text((tmp_path / "test.fr").read_text())
    (tmp_path / "short.fr").write_text("un\n")
    rows = "".join(f"{source},{target}\n" for source, target in pairs(30))
    (tmp_path / "faq.csv").write_text(f"question,answer\n{rows}")
    run_page("translation.md", tmp_path, "--hidden 8 --set model.embedding=8 --epochs 1")
