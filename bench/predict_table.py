"""elman predict on a CSV file of many rows: rows a second, peak memory, and whether all else stayed as it was.

The questions of TREC (found through ELMAN_DATA) are repeated, with a number, quotes and line ends in columns
that are not read, and answered by a small LSTM that is trained first. The output is compared record by record
with what Python's csv module reads. Seconds are by the clock and of CPU time: on a busy machine the latter say
more. ``--json`` prints one JSON object and nothing else.

    ELMAN_DATA=... python bench/predict_table.py
    ELMAN_DATA=... python bench/predict_table.py --rows 1000 100000 --threads 2
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

HEADER = ["id", "text", "label", "note"]
SMALL = ["--hidden=16", "--epochs=1", "--set=model.embedding=16", "--set=model.bidirectional=false"]


def questions(file: Path) -> list[tuple[str, str]]:
    """Texts and labels of TREC."""
    lines = (line.split(" ", 1) for line in file.read_text("latin-1").splitlines())
    return [(text, label.split(":")[0]) for label, text in lines]


def write_table(path: Path, examples: list[tuple[str, str]], rows: int) -> None:
    """So many rows; every seventh has a note with a delimiter, quotes and a line end."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(HEADER)
        for number, (text, label) in enumerate(islice(cycle(examples), rows)):
            table.writerow([number, text, label, 'said "so",\nand left' if number % 7 == 0 else "x"])


def train(folder: Path, examples: list[tuple[str, str]]) -> Path:
    """A model folder."""
    write_table(folder / "train.csv", examples, len(examples))
    command = [sys.executable, "-m", "elman", "train", "classifier", "--train", folder / "train.csv"]
    subprocess.run([*command, "--out", folder / "model", *SMALL], check=True, capture_output=True)
    return folder / "model"


def predict(model: Path, table: Path, out: Path) -> dict[str, float]:
    """Seconds, those of CPU time, and the peak of the resident memory of a command of its own."""
    command = [sys.executable, "-m", "elman", "predict", str(model), str(table), "--out", str(out)]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    seconds, used = time.perf_counter() - begun, usage.ru_utime + usage.ru_stime
    return {"s": seconds, "cpu_s": used, "peak_mib": usage.ru_maxrss / 1024}


def records(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The text of each record as it stands in a file, and its cells."""
    taken: list[str] = []

    def lines() -> Iterator[str]:
        with open(path, newline="", encoding="utf-8") as file:
            for line in file:
                taken.append(line)
                yield line

    for cells in csv.reader(lines()):
        yield "".join(taken), cells
        taken.clear()


def compare(before: Path, after: Path) -> tuple[int, bool]:
    """Rows of the output, and whether each is the record of the input, byte for byte, and two cells more."""
    rows, same = 0, True
    for (raw, cells), (longer, more) in zip(records(before), records(after), strict=True):
        added = ",".join(more[len(cells) :])
        same &= len(more) == len(cells) + 2 and longer == f"{raw[:-2]},{added}\r\n"
        rows += 1
    return rows - 1, same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    examples = questions(Path(os.environ["ELMAN_DATA"]) / "trec" / "TREC.train")
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = train(folder, examples)
        for rows in options.rows:
            table, out = folder / f"{rows}.csv", folder / f"{rows}-answers.csv"
            write_table(table, examples, rows)
            measured = predict(model, table, out)
            answered, same = compare(table, out)
            results.append({"rows": rows, "answered": answered, "same": same, **measured})
            if not options.json:
                print(
                    f"{rows:>9,} rows  {answered:>9,} answered, all else the same: {same}  "
                    f"{measured['s']:.0f} s, {measured['cpu_s']:.1f} s of CPU  "
                    f"{rows / measured['cpu_s']:,.0f} rows/s of CPU  peak {measured['peak_mib']:.0f} MiB",
                    flush=True,
                )
    if options.json:
        json.dump({"threads": options.threads, "results": results}, sys.stdout)
    sys.exit(not all(row["same"] and row["answered"] == row["rows"] for row in results))


if __name__ == "__main__":
    main()
