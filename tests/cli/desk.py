"""A folder with small files of the names that the docs use."""

import gzip
import json
from pathlib import Path

import pandas

from tests.cli.pairs_folder import pairs

QUESTIONS = [
    ("How far is it to town {} ?", "NUM"),
    ("Who was the king of land {} ?", "HUM"),
    ("Where is the river {} ?", "LOC"),
]
ENDINGS = {"s": "V;PRS;3;SG", "ed": "V;PST", "ing": "V;V.PTCP;PRS"}
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
    requests = "".join(f"{text}\t{label};ALL\n" for text, label in rows)
    for name in ("requests", "requests-dev"):
        (desk / f"{name}.tsv").write_text(f"text\tlabel\n{requests}")
    (desk / "new.csv").write_text('Nr;Question;Remark\n1;How far is it ?;"says ""yes"""\n2;;\n')
    named = "question,category\n" + "".join(f"{text},{label}\n" for text, label in rows)
    (desk / "questions.csv").write_text(named)
    (desk / "texts.txt").write_text("How far is the moon ?\nWho was that ?\n")
    (desk / "recipe.toml").write_text('task = "classifier"\n[data]\ntrain = "train.tsv"\n')
    (desk / "train.conllu").write_text(TREE * 10 + TREE.replace("Time", "It") * 10)
    (desk / "plain.conllu").write_text(TREE)
    chunks = gzip.compress((CHUNKS * 10 + CHUNKS.replace("He", "She") * 10).encode())
    for name in ("train", "test"):
        (desk / f"{name}.txt.gz").write_bytes(chunks)
    for name, lines in (("book", 200), ("last", 20), ("scene", 10)):
        text = "\n".join(SAID[i % len(SAID)] for i in range(lines))
        (desk / f"{name}.txt").write_text(f"{text}\n")
    _write_pairs(desk)
    _write_paraphrases(desk / "paraphrases")
    _write_exports(desk, rows)


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
    forms = [
        (f"{a}al{b}", f"{a}al{b}{end}", tag) for a in "bkst" for b in "kpt" for end, tag in ENDINGS.items()
    ]
    (desk / "forms.tsv").write_text("".join("\t".join(row) + "\n" for row in forms))
    (desk / "faq.csv").write_text(f"question,answer\n{answers}")


def _write_paraphrases(folder: Path) -> None:
    folder.mkdir()
    same = [(f"I see {i} of them.", f"There are {i}.", "yes") for i in range(30)]
    rows = [*same, *((a, same[i - 1][1], "no") for i, (a, _, _) in enumerate(same))]
    for name in ("train", "valid", "test"):
        table = "".join("\t".join(row) + "\n" for row in (("first", "second", "label"), *rows))
        (folder / f"{name}.tsv").write_text(table)
    (folder / "new.jsonl").write_text('{"first": "I see one.", "second": "There is one."}\n')


def _write_exports(desk: Path, rows: list[tuple[str, str]]) -> None:
    """The questions as other programs leave them, and some with holes."""
    lines = "".join(f"{number};{text};{label}\n" for number, (text, label) in enumerate(rows))
    (desk / "export.csv").write_bytes(f"Nr.;Text;Kategorie\n{lines}0;Über was?;LOC\n".encode("cp1252"))
    holes = [f'"{text}",{label}' for text, label in rows]
    holes[1], holes[3] = f",{rows[1][1]}", "cut"
    (desk / "holes.csv").write_text("\n".join(["text,label", *holes]))
    (desk / "doccano.jsonl").write_text("\n".join(json.dumps({"text": t, "label": [v]}) for t, v in rows))
    tasks = [{"data": {"text": text}, "annotations": [{"result": [_choice(label)]}]} for text, label in rows]
    (desk / "project.json").write_text(json.dumps(tasks))
    frame = pandas.DataFrame(rows, columns=["Question", "Class"])
    frame.to_parquet(desk / "reviews.parquet")
    frame.to_excel(desk / "survey.xlsx", index=False)
    for number, (text, label) in enumerate(rows):
        (desk / "mails" / label).mkdir(parents=True, exist_ok=True)
        (desk / "mails" / label / f"{number}.txt").write_text(text)
    sentence = json.dumps({"tokens": ["Ann", "left"], "ner_tags": ["B-PER", "O"]})
    (desk / "entities.jsonl").write_text("\n".join(sentence.replace("left", f"left{i}") for i in range(20)))


def _choice(label: str) -> dict[str, object]:
    return {"from_name": "topic", "type": "choices", "value": {"choices": [label]}}
