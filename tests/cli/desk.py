"""A folder with small files of the names that the docs use."""

import gzip
from pathlib import Path

from tests.cli.pairs_folder import pairs

QUESTIONS = [
    ("How far is it to town {} ?", "NUM"),
    ("Who was the king of land {} ?", "HUM"),
    ("Where is the river {} ?", "LOC"),
]
SAID = ["TRANIO :", "I thank you , sir , my lord .", "What say you of the priest ?", "My lord , I pray"]
CHUNKS = "He PRP B-NP\nreckons VBZ B-VP\nthe DT B-NP\ndeficit NN I-NP\nwill MD B-VP\nnarrow VB I-VP\n. . O\n\n"
TREE = (
    "# text = Time flies.\n"
    "1\tTime\ttime\tNOUN\tNN\tNumber=Sing\t2\tnsubj\t_\t_\n"
    "2\tflies\tfly\tVERB\tVBZ\tTense=Pres\t0\troot\t_\tSpaceAfter=No\n"
    "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\n\n"
)


def furnish(desk: Path) -> None:
    """Questions, sentences with tags, a book and pairs of sentences."""
    rows = [(text.format(i), label) for i in range(20) for text, label in QUESTIONS]
    table = "text\tlabel\n" + "".join(f"{text}\t{label}\n" for text, label in rows)
    for name in ("questions", "train", "dev", "test"):
        (desk / f"{name}.tsv").write_text(table)
    (desk / "texts.txt").write_text("How far is the moon ?\nWho was that ?\n")
    (desk / "recipe.toml").write_text('task = "classifier"\n[data]\ntrain = "train.tsv"\n')
    (desk / "train.conllu").write_text(TREE * 20)
    (desk / "plain.conllu").write_text(TREE)
    for name in ("train", "test"):
        (desk / f"{name}.txt.gz").write_bytes(gzip.compress((CHUNKS * 20).encode()))
    for name, lines in (("book", 200), ("last", 20), ("scene", 10)):
        text = "\n".join(SAID[i % len(SAID)] for i in range(lines))
        (desk / f"{name}.txt").write_text(f"{text}\n")
    _write_pairs(desk)
    _write_paraphrases(desk / "paraphrases")


def _write_pairs(desk: Path) -> None:
    for seed, name in enumerate(("train", "valid", "test", "news")):
        some = pairs(60 if name == "train" else 10, seed)
        for side, ending in ((0, "en"), (1, "fr"), (1, "de")):
            (desk / f"{name}.{ending}").write_text("".join(f"{pair[side]}\n" for pair in some))
    (desk / "second.fr").write_text((desk / "test.fr").read_text())
    (desk / "short.fr").write_text("un\n")
    numbers = "".join(f"number {i}\t{i}\n" for i in range(30))
    (desk / "numbers.tsv").write_text(f"source\ttarget\n{numbers}")
    answers = "".join(f"{source},{target}\n" for source, target in pairs(30))
    (desk / "faq.csv").write_text(f"question,answer\n{answers}")


def _write_paraphrases(folder: Path) -> None:
    folder.mkdir()
    same = [(f"I see {i} of them.", f"There are {i}.", "yes") for i in range(30)]
    rows = [*same, *((a, same[i - 1][1], "no") for i, (a, _, _) in enumerate(same))]
    for name in ("train", "valid", "test"):
        table = "".join("\t".join(row) + "\n" for row in (("first", "second", "label"), *rows))
        (folder / f"{name}.tsv").write_text(table)
    (folder / "new.jsonl").write_text('{"first": "I see one.", "second": "There is one."}\n')
