"""The default command of the classifier against fastText and Keras' BiLSTM with their default settings.

TREC and Reuters R8 (found through ELMAN_DATA), the same files and threads, one after the other in one run: test
accuracy and seconds of training, reading and start-up included. Needs: pip install fasttext-numpy2 keras.

    ELMAN_DATA=... python bench/classify.py
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("KERAS_BACKEND", "torch")

from elman.tasks.classifier.task import ClassifierDataConfig, ClassifierExample, read_examples

CORPORA = {
    "TREC": (
        ClassifierDataConfig(format="blank", text="2", label="1", label_until=":", encoding="latin-1"),
        "trec/TREC.train",
        "trec/TREC.test",
    ),
    "R8": (ClassifierDataConfig(text="2", label="1"), "reuters-r8/train.txt.gz", "reuters-r8/test.txt.gz"),
}


def ours(train: list[ClassifierExample], test: list[ClassifierExample], folder: Path, threads: int) -> float:
    for name, examples in (("train.tsv", train), ("test.tsv", test)):
        rows = ("\t".join((e.text.replace("\t", " "), e.label)) for e in examples)
        (folder / name).write_text("text\tlabel\n" + "\n".join(rows) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "elman", "train", "classifier", "--threads", str(threads)]
    subprocess.run(
        [*command, "--train", folder / "train.tsv", "--out", folder / "m"], check=True, capture_output=True
    )
    score = [sys.executable, "-m", "elman", "evaluate", folder / "m", folder / "test.tsv", "--json"]
    done = subprocess.run(score, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout)["accuracy"])


def fasttext(
    train: list[ClassifierExample], test: list[ClassifierExample], folder: Path, threads: int
) -> float:
    import fasttext as library

    path = folder / "fasttext.txt"
    path.write_text("\n".join(f"__label__{e.label} {e.text}" for e in train), encoding="utf-8")
    model = library.train_supervised(str(path), thread=threads, verbose=0)
    guesses, _ = model.predict([e.text.replace("\n", " ") for e in test])
    right = sum(g[0] == f"__label__{e.label}" for g, e in zip(guesses, test, strict=True))
    return 100 * right / len(test)


def keras(train: list[ClassifierExample], test: list[ClassifierExample], folder: Path, threads: int) -> float:
    """The text classification example of Keras: two bidirectional LSTMs of 64 units, two epochs."""
    import keras as library
    import numpy as np
    import torch

    torch.set_num_threads(threads)
    words = {w: i for i, w in enumerate(sorted({w for e in train for w in e.text.split()}), 2)}
    labels = sorted({e.label for e in train})
    rows = [[words.get(w, 1) for w in e.text.split()] for e in (*train, *test)]
    xs = library.utils.pad_sequences(rows, maxlen=200)
    ys = np.array([labels.index(e.label) for e in (*train, *test)])
    layers = [
        library.layers.Embedding(len(words) + 2, 128),
        library.layers.Bidirectional(library.layers.LSTM(64, return_sequences=True)),
        library.layers.Bidirectional(library.layers.LSTM(64)),
        library.layers.Dense(len(labels), activation="softmax"),
    ]
    model = library.Sequential(layers)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(xs[: len(train)], ys[: len(train)], batch_size=32, epochs=2, verbose=0)
    guesses = model.predict(xs[len(train) :], verbose=0).argmax(-1)
    return 100 * float((guesses == ys[len(train) :]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--corpora", nargs="+", default=list(CORPORA), choices=list(CORPORA))
    options = parser.parse_args()
    results = []
    for name in options.corpora:
        data, *files = CORPORA[name]
        train, test = (list(read_examples(data, f"{os.environ['ELMAN_DATA']}/{file}")) for file in files)
        for system in (fasttext, keras, ours):
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                accuracy = system(train, test, Path(folder), options.threads)
                seconds = time.perf_counter() - start
            row = {"corpus": name, "system": system.__name__, "accuracy": accuracy, "s": seconds}
            results.append(row)
            if not options.json:
                print(f"{name:5} {system.__name__:9} {accuracy:.2f} %  {seconds:.0f} s", flush=True)
    if options.json:
        json.dump({"threads": options.threads, "results": results}, sys.stdout)


if __name__ == "__main__":
    main()
