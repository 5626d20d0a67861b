"""Small files in the shapes that people have; each is written, and read again by an independent reader."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pyarrow as pa
from pyarrow import parquet

LABELS = ("Bücher", "Möbel", "Spiele")
THINGS = ("das Buch", "den Stuhl", "den Ball")
# What differs in a number alone would be a duplicate.
COLOURS = [
    "rot",
    "blau",
    "grün",
    "gelb",
    "weiß",
    "schwarz",
    "braun",
    "grau",
    "lila",
    "rosa",
]  # numbers alone would make duplicates
TEXTS = [f"Ich hätte gern {thing} in {colour}" for colour in COLOURS for thing in THINGS]
ROWS = [(text, LABELS[i % 3]) for i, text in enumerate(TEXTS)]
WORDS = [("Anna", "B-PER"), ("Blume", "I-PER"), ("lives", "O"), ("in", "O"), ("Paris", "B-LOC")]


class Sheet(NamedTuple):
    """A table as an independent reader has it."""

    columns: list[str]
    rows: list[dict[str, Any]]


def write_csv(path: Path, rows: list[tuple[Any, ...]], **form: Any) -> None:
    encoding = form.pop("encoding", "utf-8")
    with path.open("w", newline="", encoding=encoding) as file:
        csv.writer(file, **form).writerows(rows)


def read_csv(path: Path, encoding: str = "utf-8", **form: Any) -> Sheet:
    with path.open(newline="", encoding=encoding) as file:
        reader = csv.DictReader(file, **form)
        return Sheet(list(reader.fieldnames or ()), list(reader))


def german_excel(desk: Path) -> Sheet:
    book = openpyxl.Workbook()
    book.active.append(("Nr.", "Beschreibung", "Kategorie", "Betrag"))
    for number, (text, label) in enumerate(ROWS, 1):
        book.active.append((number, text, label, 12.5))
    book.save(desk / "a.xlsx")
    return read_excel(desk / "a.xlsx")


def read_excel(path: Path) -> Sheet:
    columns, *rows = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    return Sheet(list(columns), [dict(zip(columns, row, strict=True)) for row in rows])


GERMAN = {"delimiter": ";", "encoding": "cp1252"}


def german_csv(desk: Path) -> Sheet:
    rows = [(i, f"{i % 28 + 1:02}.11.2026", text, label, "1.234,50") for i, (text, label) in enumerate(ROWS)]
    write_csv(desk / "a.csv", [("Nr.", "Datum", "Beschreibung", "Kategorie", "Betrag"), *rows], **GERMAN)
    return read_csv(desk / "a.csv", **GERMAN)


def kaggle(desk: Path) -> Sheet:
    quoted = [(f"{i:016x}", f'He said: "{text}",\nand left.', label) for i, (text, label) in enumerate(ROWS)]
    write_csv(desk / "a.csv", [("Id", "Comment_Text", "Sentiment"), *quoted])
    return read_csv(desk / "a.csv")


def label_studio(desk: Path) -> Sheet:
    tasks = []
    for number, (text, label) in enumerate(ROWS):
        result = {"value": {"choices": [label]}, "from_name": "topic", "to_name": "text", "type": "choices"}
        done = {"id": number, "result": [result], "was_cancelled": False}
        tasks.append({"id": number, "data": {"text": text}, "annotations": [done], "predictions": []})
    (desk / "a.json").write_text(json.dumps(tasks))
    return Sheet(["text", "topic"], [{"text": text} for text, _ in ROWS])


def doccano(desk: Path) -> Sheet:
    spans = [[0, 10, "PER"], [20, 25, "LOC"]]
    texts = [f"Anna Blume lives in Paris, {colour}" for colour in COLOURS]
    records = [{"id": i, "text": text, "label": spans, "Comments": []} for i, text in enumerate(texts)]
    (desk / "a.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return read_json_lines(desk / "a.jsonl")


def read_json_lines(path: Path) -> Sheet:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return Sheet(list(rows[0]), rows)


def conll(desk: Path) -> str:
    lines = "".join(f"{word} NN O {tag}\n" for word, tag in WORDS)
    text = "# text = Anna Blume lives in Paris"
    blocks = [f"# sent_id = {i}\n{text}\n{lines}{colour} JJ O O\n\n" for i, colour in enumerate(COLOURS)]
    blocks.insert(5, "-DOCSTART- -X- -X- O\n\n")
    (desk / "a.conll").write_text("-DOCSTART- -X- -X- O\n\n" + "".join(blocks))
    return (desk / "a.conll").read_text()


def mails(desk: Path) -> Sheet:
    for number, (text, label) in enumerate(ROWS):
        (desk / "a" / label).mkdir(parents=True, exist_ok=True)
        mail = f"Subject: {text}\n\n{text.lower()},\n{text.upper()}\n"
        (desk / "a" / label / f"{number:02}.eml").write_text(mail)
    (desk / "a" / ".DS_Store").write_bytes(b"\0\1\2")
    return Sheet([], [{} for _ in ROWS])


def hugging_face(desk: Path) -> Sheet:
    labels = pa.array([LABELS.index(label) for _, label in ROWS])
    table = pa.table({"sentence": TEXTS, "label": labels, "idx": range(len(ROWS))})
    parquet.write_table(table, desk / "a.parquet")
    return read_parquet(desk / "a.parquet")


def read_parquet(path: Path) -> Sheet:
    table = parquet.read_table(path)
    return Sheet(table.column_names, table.to_pylist())


def headless(desk: Path) -> Sheet:
    lines = "".join(f"{label}\t{text}\n" for text, label in ROWS)
    (desk / "a.tsv.gz").write_bytes(gzip.compress(lines.encode()))
    return Sheet([], [{} for _ in ROWS])


def tickets(desk: Path) -> Sheet:
    rows = [("2026-11-16", "" if i == 7 else text, "q1", label) for i, (text, label) in enumerate(ROWS)]
    write_csv(desk / "a.csv", [("created", "body", "queue", "topic"), *rows, *rows[:6]])
    return read_csv(desk / "a.csv")


def json_array(desk: Path) -> Sheet:
    rows = [{"question": text, "category": label} for text, label in ROWS]
    (desk / "a.json").write_text(json.dumps(rows, indent=1))
    return Sheet(["question", "category"], rows)


def several_labels(desk: Path) -> Sheet:
    rows = [(f"Film {i}", text, f"{label}|{LABELS[(i + i // 9) % 3]}") for i, (text, label) in enumerate(ROWS)]
    write_csv(desk / "a.csv", [("title", "plot", "genres"), *rows])
    return read_csv(desk / "a.csv")
