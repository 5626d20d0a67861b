"""Models that learn: strings never seen are copied and reversed, and a run goes on where it was cut.

All contexts, scores and starts in combination: `bench/reversal.py`.
"""

import signal

import pytest
import torch

from elman.errors import ModelError
from elman.pipeline import run_recipe
from elman.pipeline.recipe import build
from elman.tasks.seq2seq.task import Seq2Seq, Seq2SeqConfig
from tests.tasks.toy_pairs import ALIGNED, CHARS, FEW, JOINT, SINGLE, made, strings, task, train

SMALL = {"hidden": 32, "embedding": 16, "layers": 1, "dropout": 0.0, "label_smoothing": 0.0}
NARROW = {"encoder_hidden": 16}  # two directions of 16: as many features as the decoder has units
LEARNERS = {
    "plain, copied": ("reversal", 150, {"decoder": "plain", "decoder_init": "copied", "hidden": 48}),
    "context, mean": ("copying", 150, {"decoder": "context", "summary": "mean", "cell": "gru"}),
    "bahdanau, additive": ("reversal", 100, {"decoder": "bahdanau", "score": "additive"}),
    "luong, dot": ("reversal", 150, {"decoder": "luong", "score": "dot", "decoder_init": "zero"} | NARROW),
    "gnmt, bilinear": ("copying", 100, {"decoder": "gnmt", "layers": 2}),
    "input-feeding, scaled": (
        "reversal",
        150,
        {"decoder": "input-feeding", "score": "scaled", "cell": "elman"} | NARROW,
    ),
    "luong, mean": ("copying", 150, {"decoder": "luong", "decoder_init": "copied", "summary": "mean"}),
    "transformer": ("reversal", 150, {"decoder": "luong", "encoder": "transformer"}),
    "single": ("reversal", 350, SINGLE | {"hidden": 48}),
    "transducer": ("copying", 100, ALIGNED),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_strings_that_were_never_seen_are_written_right(name):
    kind, updates, options = LEARNERS[name]
    texts = strings("abcde", 4)
    held, seen = task(kind, texts[:150]), task(kind, texts[150:])
    torch.manual_seed(0)
    one = Seq2Seq.from_examples(
        Seq2SeqConfig(**(SMALL | options)), JOINT if "decoder_only" in options else CHARS, seen
    )
    train(one, one.encode(seen), updates, lr=0.015)
    answers = one.translate([e.source for e in held], beam=1)
    wrong = [e.source for e, answer in zip(held, answers, strict=True) if answer != e.targets[0]]
    assert len(wrong) < 0.01 * len(held), wrong


def recipe(folder, kind: str):
    """Twelve updates on two files, an evaluation after every third."""
    for name, texts in (("train", strings("abc", 3)), ("valid", strings("abc", 2))):
        (folder / f"{name}.src").write_text("".join(f"{text}\n" for text in texts))
        (folder / f"{name}.tgt").write_text("".join(f"{text[::-1]}\n" for text in texts))
    files = {n: [str(folder / f"{n}.src"), str(folder / f"{n}.tgt")] for n in ("train", "valid")}
    side = {"kind": kind} | ({"size": 270} if kind == "bpe" else {})
    return build(
        {
            "task": "seq2seq",
            "data": files | {"batch_tokens": 64},
            "tokens": {"source": side, "target": side},
            "model": {"hidden": 6, "embedding": 4, "layers": 1, "decoder": "luong"},
            "training": {"updates": 12, "evaluate_every": 3, "lr": 0.02},
        }
    )


@pytest.mark.parametrize("kind", ["chars", "bpe"])
def test_a_resumed_run_has_the_vocabularies_and_ends_with_the_bits_of_one_never_cut(
    tmp_path, monkeypatch, kind
):
    chosen, honest, calls = recipe(tmp_path, kind), Seq2Seq.loss, []
    whole = run_recipe(chosen, tmp_path / "whole")

    def loss(self, batch, progress):
        calls.append(batch)
        if len(calls) == 7:
            signal.raise_signal(signal.SIGINT)
        return honest(self, batch, progress)

    with monkeypatch.context() as patch:
        patch.setattr(Seq2Seq, "loss", loss)
        assert run_recipe(chosen, tmp_path / "cut") is None
    adopted = []
    with monkeypatch.context() as patch:
        patch.setattr(Seq2Seq, "reuse_vocab", lambda self, folder: adopted.append(folder))
        again = run_recipe(chosen, tmp_path / "cut", resume=True)
    assert adopted == [tmp_path / "cut"]
    assert again.metrics["valid"] == whole.metrics["valid"]
    one, other = (tmp_path / name / "model.safetensors" for name in ("cut", "whole"))
    assert one.read_bytes() == other.read_bytes()


def test_stored_vocabularies_are_taken_unless_they_are_of_other_data(tmp_path):
    one = made()
    turned = [e._replace(targets=(e.targets[0] + "xx",)) for e in FEW]  # x is more frequent now
    other = made(examples=turned)
    assert one.tokenizers.target.items != other.tokenizers.target.items
    one.save_vocab(tmp_path)
    other.reuse_vocab(tmp_path)
    assert other.tokenizers.matches(one.tokenizers)
    with pytest.raises(ModelError, match="trained on other data"):
        made(examples=FEW[:1]).reuse_vocab(tmp_path)
