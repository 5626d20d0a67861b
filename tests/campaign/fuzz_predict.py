"""Whatever is read, tiny models of all tasks answer it, line for line, or refuse it in one line."""

from __future__ import annotations

import io
import math
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from elman.cli.answers import _format
from elman.cli.table_output import TableOptions, answer_table
from elman.tasks.base import PredictOptions
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model import LanguageModel, LanguageModelConfig
from elman.tasks.seq2seq.data import Seq2SeqExample, TokenizerPairConfig
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig
from elman.text.files import read_lines
from elman.text.tables import open_table
from tests.campaign.fuzz_corpora import STRANGE, damage, label, text, write_table
from tests.campaign.harness import Target, main
from tests.tasks import meetings, names, topics

TAB_BLANKS = "\t_" * 8
LINES = ["once upon a time", "the dog saw ann"]


@cache
def model(task: str) -> Any:
    """An untrained tiny model."""
    if task == "lm":
        made: Any = LanguageModel.from_examples(
            LanguageModelConfig(hidden=4, embedding=4), TokenizerConfig(), LINES
        )
    elif task == "seq2seq":
        chars = TokenizerPairConfig(TokenizerConfig("chars"), TokenizerConfig("chars"))
        pairs = [Seq2SeqExample(line, (line[::-1],)) for line in LINES]
        made = Seq2Seq.from_examples(Seq2SeqConfig(hidden=4, embedding=4), chars, pairs)
    else:
        made = {"classifier": topics, "pairs": meetings, "tagger": names}[task].fresh()  # type: ignore[attr-defined]
    made.net.eval()
    return made


def any_text(rng: Random) -> str:
    """Words, strange signs, or characters from everywhere; now and then long."""
    kind = rng.random()
    if kind < 0.6:
        return text(rng, 12)
    if kind < 0.8:
        return "".join(rng.choices([*STRANGE, *"ab \t"], k=rng.randrange(30)))
    length = rng.randrange(2000 if rng.random() < 0.05 else 20)
    return "".join(chr(rng.randrange(0x110000 if rng.random() < 0.1 else 0x3000)) for _ in range(length))


def write_lines(rng: Random) -> str:
    lines = [any_text(rng).replace("\n", " ") for _ in range(rng.randint(1, 6))]
    Path("a.txt").write_bytes(damage(rng, "\n".join(lines).encode("utf-8", "replace")))
    return "a.txt"


def options(rng: Random, **more: Any) -> PredictOptions:
    def chunks(items: Any) -> Any:
        found = list(items)
        return (found[i : i + 4] for i in range(0, len(found), 4))

    return PredictOptions(chunks, as_json=rng.random() < 0.3, **more)


def predict_lines(task: str, rng: Random, **more: Any) -> None:
    """As many lines out as in."""
    file, asked = write_lines(rng), options(rng, **more)
    answers = list(model(task).predict_file(file, asked))
    assert len(answers) == sum(1 for _ in read_lines(file))
    for answer in answers:
        assert _format(answer, None, as_json=asked.as_json).count(b"\n") == 1


def lines_classifier(rng: Random) -> None:
    predict_lines("classifier", rng, n_best=rng.choice((1, 1, 2, 5)))


def lines_pairs(rng: Random) -> None:
    predict_lines("pairs", rng)


def lines_tagger(rng: Random) -> None:
    predict_lines("tagger", rng, format=rng.choice(("lines", "raw")), n_best=rng.choice((1, 1, 3)))


def lines_seq2seq(rng: Random) -> None:
    predict_lines("seq2seq", rng, decoding={"max_tokens": 8, "beam": rng.choice((1, 3))})


def columns_tagger(rng: Random) -> None:
    """A CoNLL file comes out with all its lines."""
    file = Path("a.conllu")
    sentences = [[text(rng, 1) for _ in range(rng.randint(1, 4))] for _ in range(rng.randint(1, 4))]
    rows = [
        "".join(f"{i}\t{w}{chr(9) + '_'}" + "\t_" * 7 + "\n" for i, w in enumerate(s, 1)) for s in sentences
    ]
    file.write_bytes(damage(rng, "\n".join(rows).encode()))
    answers = list(
        model("tagger").predict_file(str(file), options(rng, format="columns")._replace(as_json=False))
    )
    assert b"".join(answer.line for answer in answers).count(b"\n") == file.read_bytes().count(b"\n")


def tables_classifier(rng: Random) -> None:
    """A table comes out with as many rows, and two columns more."""
    source = write_table(rng, ("text", "id"), (any_text, label))
    format = source.split(".")[1].replace("txt", "tsv")
    with redirect_stderr(io.StringIO()):
        asked = options(rng)._replace(as_json=False)
        answer_table(model("classifier"), source, asked, TableOptions(format, Path("out.jsonl")))
    rows = [row for row in open_table(source, format=format, wanted={"text": "text"}) if not row.problem]
    answered = list(open_table("out.jsonl"))
    assert len(answered) == len(rows)


def texts_in_python(rng: Random) -> None:
    """Probabilities that sum to one, the same alone and among others."""
    texts = [any_text(rng) for _ in range(rng.randint(1, 5))]
    together = model("classifier").classify(texts)
    alone = model("classifier").classify(texts[:1])[0]
    for prediction in together:
        assert math.isclose(sum(prediction.probabilities.values()), 1, abs_tol=1e-6)
    assert math.isclose(alone.confidence, together[0].confidence, abs_tol=1e-5)
    tags = model("tagger").tag([text.split() for text in texts])
    assert [len(found) for found in tags] == [len(text.split()) for text in texts]


def scores(rng: Random) -> None:
    """The nats of a line are finite, and its completions begin as it does."""
    line = any_text(rng).replace("\n", " ").replace("\r", " ")
    found = model("lm").score(line)
    assert math.isfinite(sum(found.log_probs)), found
    stream = model("lm").stream()
    for piece in line.split(" "):
        stream.feed(piece + " ")


TARGETS: dict[str, Target] = {
    f"predict-{target.__name__}": target
    for target in (
        lines_classifier,
        lines_pairs,
        lines_tagger,
        lines_seq2seq,
        columns_tagger,
        tables_classifier,
        texts_in_python,
        scores,
    )
}

if __name__ == "__main__":
    main(TARGETS)
