"""The language model: what it computes, what it learns, what it keeps."""

import gzip
import json
from collections import Counter
from dataclasses import replace
from inspect import getattr_static
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import elman
from elman.errors import ConfigError, DataError, ModelError
from elman.layers.cross_entropy import weighted_mean
from elman.pipeline import run_recipe
from elman.pipeline.recipe import build
from elman.tasks.config import TokenizerConfig
from elman.tasks.language_model import corpus as lm_text
from elman.tasks.language_model.judged_lines import judge_lines
from elman.tasks.language_model.task import (
    BPTTBatch,
    LanguageModel,
    LanguageModelConfig,
    LanguageModelDataConfig,
    LanguageModelDataset,
    TextCorpus,
    read_corpus,
)
from elman.text.vocab import EOS
from elman.training.evaluation import Validation
from elman.training.events import Checkpoint, Update
from elman.training.snapshot import Snapshot
from elman.training.training_config import TrainingConfig
from elman.training.training_loop import fit

SONG = ["the", "cat", "sat", "on", "the", "mat", "and", "the", "dog", "sat", "on", "the", "log"]
LINES = [" ".join(SONG[i : i + 5]) for i in range(len(SONG) - 5)] * 3
SMALL = LanguageModelConfig(hidden=6, embedding=5, layers=2, dropout=0.0)


def made(model: LanguageModelConfig = SMALL, kind: str = "words", lines: list[str] = LINES) -> LanguageModel:
    torch.manual_seed(0)
    lm = LanguageModel.from_examples(model, TokenizerConfig(kind=kind), lines)
    with torch.no_grad():
        for p in lm.net.parameters():
            p.add_(0.3 * torch.randn_like(p))  # away from the start, where much is zero
    return lm


def batch(ids: torch.Tensor) -> BPTTBatch:
    return BPTTBatch(ids[:, :-1], ids[:, 1:], torch.ones_like(ids[:, 1:], dtype=torch.bool), 1.0)


def test_perplexity_is_that_of_the_formulas_in_numpy() -> None:
    lm = made(LanguageModelConfig(cell="elman", hidden=6, embedding=5, layers=1, dropout=0.0))
    w = {name: p.detach().double().numpy() for name, p in lm.net.named_parameters()}
    cell = "layers.cell.cells.0.cell."
    E, h, total, before = w["embed.E.weight"], np.zeros(6), 0.0, EOS
    ids = [i for line in LINES for i in (*lm.tokenizer.encode(line), EOS)]
    for token in ids:
        h = np.tanh(w[cell + "W"] @ E[before] + w[cell + "b"] + w[cell + "U.0"] @ h)
        z = E @ (w["softmax.P.weight"] @ h) + w["softmax.b"]
        total += np.log(np.exp(z).sum()) - z[token]
        before = token
    assert lm.perplexity(LINES) == pytest.approx(np.exp(total / len(ids)), rel=1e-5)


@given(window=st.integers(1, 40))
def test_windows_are_the_whole_text(window: int) -> None:
    lm = made()
    data = lm.encode(LINES[:6])
    assert lm.nll(data, window=window) == pytest.approx(lm.nll(data), rel=1e-5)


def test_scores_are_one_number_in_several_units() -> None:
    scores = made(kind="chars").evaluate_dataset(made(kind="chars").encode(["ab", "c"]))
    assert scores["tokens"] == 5  # with two ends of lines
    assert scores["perplexity"] == pytest.approx(np.exp(scores["nats_per_token"]))
    assert scores["bits_per_token"] == pytest.approx(scores["nats_per_token"] / np.log(2))
    assert scores["bits_per_character"] == pytest.approx(scores["bits_per_token"])
    words = made()
    few = words.evaluate_dataset(words.encode(["the cat"]))
    assert few["bits_per_character"] == pytest.approx(3 * few["bits_per_token"] / 8)


@pytest.mark.parametrize("kind", ["words", "chars"])
def test_each_line_is_judged_by_its_tokens_and_its_end(kind: str) -> None:
    lm, lines = made(kind=kind), ["the cat", "a dog", "on", "the log"]
    data = lm.encode(lines)
    lengths = [len(lm.tokenizer.encode(line)) + 1 for line in lines]
    for cut in (0, 1):  # with the end of the last line, and without it
        judged = judge_lines(lm, LanguageModelDataset(data.ids[: len(data.ids) - cut], None))
        assert judged.tokens.tolist() == [*lengths[:-1], lengths[-1] - cut]
        assert judged.unseen is None if kind == "chars" else judged.unseen.tolist() == [0, 1, 0, 1]


def test_a_batch_is_its_rows_one_by_one() -> None:
    net = made().net.eval()
    ids = torch.randint(4, 9, (3, 7))
    _, hs = net.read(net.begin(3), ids)
    for row in range(3):
        _, alone = net.read(net.begin(1), ids[row : row + 1])
        torch.testing.assert_close(hs[row], alone[0])
    assert hs.shape == (3, 7, 6)


def test_a_mask_ends_a_row_early() -> None:
    net = made().net.eval()
    ids, mask = torch.randint(4, 9, (2, 5)), torch.arange(5) < torch.tensor([[5], [2]])
    state, _ = net.read(net.begin(2), ids, mask)
    short, _ = net.read(net.begin(1), ids[1:, :2])
    torch.testing.assert_close(state[-1].h[1:], short[-1].h)


def test_steps_are_reading() -> None:
    net = made().net.eval()
    ids = torch.randint(4, 9, (2, 5))
    state = net.begin(2)
    for t in range(5):
        state, logits = net.step(state, ids[:, t])
    torch.testing.assert_close(logits, net(ids)[:, -1])


def test_the_gradient_of_tied_rows_is_that_of_both_uses() -> None:
    model = LanguageModelConfig(hidden=6, embedding=6, layers=1, dropout=0.0)
    tied, loose = made(model), made(replace(model, tied=False))
    with torch.no_grad():
        for name, p in tied.net.named_parameters():
            loose.net.get_parameter(name).copy_(p)
        loose.net.output.own.copy_(tied.net.embed.E.weight)
    some = batch(torch.randint(4, 9, (2, 8)))
    for lm in (tied, loose):
        lm.loss(some, 0.0).backward()
    both = loose.net.embed.E.weight.grad + loose.net.output.own.grad
    torch.testing.assert_close(tied.net.embed.E.weight.grad, both)


def test_tied_sizes_that_differ_are_projected_and_others_are_not() -> None:
    wide = made(LanguageModelConfig(hidden=8, embedding=5, layers=2)).net
    assert wide.output.P.weight.shape == (5, 8)
    awd = made(LanguageModelConfig(hidden=8, embedding=5, last_hidden=5, layers=2)).net
    assert [layer.output_size for layer in awd.layers.stack] == [8, 5]
    assert not list(awd.output.P.parameters())


def test_recurrent_weights_are_dropped_anew_in_training_and_never_in_evaluation() -> None:
    lm = made(replace(SMALL, layers=1, weight_drop=0.5))
    net, x = lm.net.train(), torch.zeros(1, 1, 5)
    cell = net.layers.stack[0].cell
    (full,) = cell.cell.matrices()
    (one,), (two,) = cell.sample_masks(x).matrices(), cell.sample_masks(x).matrices()
    for dropped in (one, two):
        assert 0.3 < (dropped == 0).float().mean() < 0.7
        torch.testing.assert_close(dropped, torch.where(dropped == 0, 0, 2 * full))
    assert not torch.equal(one, two)
    ids = torch.randint(4, 9, (2, 6))
    read = [net.read(net.begin(2), ids)[1] for _ in range(2)]
    assert not torch.allclose(*read)
    plain = made(replace(SMALL, layers=1)).net.eval()
    torch.testing.assert_close(net.eval().read(net.begin(2), ids)[1], plain.read(plain.begin(2), ids)[1])


def test_words_are_dropped_as_a_whole_wherever_they_stand() -> None:
    net = made(replace(SMALL, word_dropout=0.5)).net.train()
    seen = []
    net.drop_input.register_forward_hook(lambda _, xs, ys: seen.append(xs[0]))
    ids = torch.tensor([[4, 5, 6, 7, 4, 5, 6, 7], [7, 6, 5, 4, 7, 6, 5, 4]])
    net.read(net.begin(2), ids)
    kept = seen[0].detach() / net.embed.E.weight.detach()[ids]
    each = {i: kept[ids == i] for i in range(4, 8)}
    for scale in each.values():
        assert torch.isclose(scale, scale.flatten()[0], atol=1e-4).all()
    assert {round(float(s.flatten()[0])) for s in each.values()} == {0, 2}


def test_features_of_the_input_are_dropped_for_a_whole_window() -> None:
    net = made(replace(SMALL, input_dropout=0.5)).net.train()
    seen = []
    net.drop_input.register_forward_hook(lambda _, xs, ys: seen.append(ys == 0))
    net.read(net.begin(3), torch.randint(4, 9, (3, 7)))
    assert (seen[0] == seen[0][:, :1]).all()
    assert 0 < seen[0].float().mean() < 1


def test_activation_regularisation_by_hand() -> None:
    some = batch(torch.randint(4, 9, (2, 8)))
    mask = torch.arange(7) < torch.tensor([[7], [3]])
    some = BPTTBatch(some.ids, some.targets, mask, 10.0)
    lm = made(replace(SMALL, activation_penalty=2.0, temporal_penalty=3.0))
    plain = made().loss(some, 0.0)
    _, hs = lm.net.read(lm.net.begin(2), some.ids)
    h = hs.detach().double().numpy()
    large = np.concatenate([h[0] ** 2, h[1, :3] ** 2]).mean()
    sudden = np.concatenate([(h[0, 1:] - h[0, :-1]) ** 2, (h[1, 1:3] - h[1, :2]) ** 2]).mean()
    expected = plain.item() + 2 * large + 3 * sudden
    assert lm.loss(some, 0.0).item() == pytest.approx(expected, rel=1e-5)


def test_large_outputs_cost_after_dropout_and_changes_before_it() -> None:
    lm = made(replace(SMALL, dropout=0.5, input_dropout=0.0, layer_dropout=0.0, activation_penalty=1.0))
    some = batch(torch.randint(4, 9, (2, 8)))
    lm.net.train()
    torch.manual_seed(3)
    found = lm.loss(some, 0.0)
    torch.manual_seed(3)
    _, hs = lm.net.read(lm.net.begin(2), some.ids)
    kept = lm.net.drop(hs)
    expected = lm.net.output.loss(kept, some.targets) + kept.square().mean()
    torch.testing.assert_close(found, expected)


def test_what_does_not_count_does_not_teach() -> None:
    lm = made(replace(SMALL, activation_penalty=1.0, temporal_penalty=1.0))
    ids = torch.randint(4, 9, (1, 6))
    whole = batch(ids)
    padded = BPTTBatch(
        torch.cat((whole.ids, torch.zeros(1, 3, dtype=torch.long)), 1),
        torch.cat((whole.targets, torch.full((1, 3), 4)), 1),
        torch.tensor([[True] * 5 + [False] * 3]),
        5.0,
    )
    torch.testing.assert_close(lm.loss(whole, 0.0), lm.loss(padded, 0.0))
    nothing = replace(padded, mask=torch.zeros_like(padded.mask))
    assert torch.isfinite(lm.loss(nothing, 0.0))


def trained(
    lm: LanguageModel, settings: TrainingConfig, stop: int = 0, resume: Snapshot | None = None
) -> tuple[list[float], Snapshot | None]:
    """The losses of a run, or up to an update and the snapshot there."""
    data = LanguageModelDataConfig(streams=3, bptt=5, bptt_std=1.0, random_start=True)
    text = lm.encode(LINES)
    validation = Validation(lambda: lm.evaluate_dataset(text), "perplexity", "min")
    batches = lm.build_batches(text, data, settings.seed)
    losses = []
    for event in fit(lm.net, batches, lm.bptt_loss, settings, validation, resume=resume):
        if isinstance(event, Update):
            losses.append(event.loss)
        if isinstance(event, Checkpoint) and event.number == stop:
            return losses, event.snapshot()
    return losses, None


@pytest.mark.parametrize("stop", [3, 11, 14])
def test_a_resumed_run_is_the_uninterrupted_one_bit_for_bit(stop: int) -> None:
    model = replace(
        SMALL, dropout=0.2, weight_drop=0.3, word_dropout=0.1, activation_penalty=1.0, temporal_penalty=1.0
    )
    settings = TrainingConfig(
        optimizer="ntasgd", lr=0.5, momentum=0.0, ntasgd_window=1, epochs=3, schedule="constant"
    )
    whole = made(model)
    expected, _ = trained(whole, settings)
    begun, snapshot = trained(made(model), settings, stop)
    resumed = made(model, lines=LINES)
    with torch.no_grad():
        for p in resumed.net.parameters():
            p.zero_()
    rest, _ = trained(resumed, settings, resume=snapshot)
    assert begun + rest == expected
    for one, other in zip(whole.net.parameters(), resumed.net.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_state_is_carried_into_the_next_window_and_not_into_the_next_epoch() -> None:
    lm, given_states = made(), []
    inner = lm.net.read_layers

    def spying(state, ids, mask=None):
        given_states.append(state[0].h.abs().sum().item())
        return inner(state, ids, mask)

    lm.net.read_layers = spying
    data = LanguageModelDataConfig(streams=4, bptt=10)
    batches = lm.build_batches(lm.encode(LINES), data, 0)
    for _ in fit(lm.net, batches, lm.bptt_loss, TrainingConfig(epochs=2)):
        pass
    count = batches.count(0)
    first = [i for i, size in enumerate(given_states) if size == 0]
    assert first == [0, count]


def test_pieces_of_a_text_stand_after_all_that_comes_before_them() -> None:
    lm = made(replace(SMALL, dropout=0.5, weight_drop=0.5), kind="chars")
    data, steps = lm.encode(LINES), 32
    lm.net.train()
    found = [*lm.sequence_model().sample_batches(data, 5, rows=2)]
    assert lm.net.training
    assert len(found) == 3, "five are in three batches of two"
    ids = torch.from_numpy(data.ids.astype(np.int64)).view(2, -1)
    text = torch.cat([window.batch.targets for window in found], 1)
    assert torch.equal(text, ids[:, : 3 * steps])
    assert found[0].batch.ids[0, 0] == lm.end
    lm.net.eval()
    for i, (window, state) in enumerate(found):
        before, _ = lm.net.read(lm.net.begin(2), torch.cat([w.batch.ids for w in found], 1)[:, : i * steps + 1])
        after, _ = lm.net.read(state, window.ids[:, :1])
        torch.testing.assert_close(after[-1].h, before[-1].h)
    lengths = (127, 128, 3 * 128 - 1, 100 * 128)
    texts = [LanguageModelDataset(np.full(n, 5, np.uint16), None) for n in lengths]
    batches = [next(lm.sequence_model().sample_batches(text, 1)) for text in texts]
    assert [len(window.batch.ids) for window in batches] == [1, 1, 2, 50]


def test_with_n_grams_a_step_is_that_of_both_and_no_mixture_of_tokens_is_read() -> None:
    lm = made(replace(SMALL, ngrams=2))
    data = lm.encode(LINES)
    lm.fit_statistics(data)
    lm.calibrate(data)
    (window,) = lm.sequence_model().sample_batches(data, 1)
    start = lm.sequence_model().begin(window)
    _, logits = start.step(start.state, window.batch.ids[:, 0])
    _, hs = lm.net.read(lm.net.begin(1), window.batch.ids[:, :1])
    torch.testing.assert_close(logits.log_softmax(-1), lm.net.output.log_probabilities(hs[:, 0]))
    with pytest.raises(ModelError, match="n-grams read tokens"):
        start.blend(start.state, window.batch.ids[:, 0], logits)


def test_a_softmax_can_begin_with_the_frequencies_of_tokens() -> None:
    lm = LanguageModel.from_examples(replace(SMALL, frequency_bias=True), TokenizerConfig(), LINES)
    data = lm.encode(LINES)
    lm.fit_statistics(data)
    counts = Counter(data.ids.tolist())
    shares = lm.net.softmax.b.softmax(0)
    expected = [counts[i] / len(data) for i in range(len(lm.tokenizer.items))]
    torch.testing.assert_close(shares, torch.tensor(expected), atol=0.01, rtol=0)


def test_a_deterministic_text_is_learnt_to_perplexity_one() -> None:
    lines = [" ".join(SONG)] * 20
    lm = LanguageModel.from_examples(
        LanguageModelConfig(hidden=32, layers=1, dropout=0.0), TokenizerConfig(), lines
    )
    batches = lm.build_batches(lm.encode(lines), LanguageModelDataConfig(streams=2, bptt=20), 0)
    for _ in fit(lm.net, batches, lm.bptt_loss, TrainingConfig(lr=0.02, epochs=12)):
        pass
    assert lm.perplexity(lines) < 1.05


def recipe(tmp_path: Path, **model: object) -> dict[str, object]:
    (tmp_path / "a.txt").write_text("\n".join(LINES * 4) + "\n")
    return {
        "task": "lm",
        "data": {"train": str(tmp_path / "a.txt"), "cache": str(tmp_path / "cache"), "streams": 4, "bptt": 8},
        "model": {"hidden": 8, "embedding": 8, "layers": 1, "dropout": 0.0, **model},
        "training": {"epochs": 1, "lr": 0.02},
    }


@pytest.mark.parametrize("model", [{}, {"softmax": "adaptive", "tied": False, "cutoffs": [5]}])
def test_a_saved_model_is_the_same_when_loaded(tmp_path: Path, model: dict[str, object]) -> None:
    lm = elman.train(recipe(tmp_path, **model), tmp_path / "m")
    loaded = elman.load(tmp_path / "m")
    assert loaded.perplexity(LINES) == lm.perplexity(LINES)
    for one, other in zip(lm.net.state_dict().values(), loaded.net.state_dict().values(), strict=True):
        assert torch.equal(one, other)


def test_training_goes_on_from_a_model_with_other_dropout_and_averaging(tmp_path: Path) -> None:
    """The fine-tuning stage of Merity et al. 2018."""
    first = elman.train(recipe(tmp_path), tmp_path / "m")
    again = recipe(tmp_path, dropout=0.1, weight_drop=0.1)
    again["training"] = {
        "optimizer": "ntasgd",
        "lr": 0.5,
        "momentum": 0.0,
        "ntasgd_window": 1,
        "epochs": 6,
        "schedule": "constant",
        "weight_decay": 0.0,
    }
    better = elman.train(again, tmp_path / "n", init=tmp_path / "m")
    assert better.perplexity(LINES) < first.perplexity(LINES)


def vectors(tmp_path: Path, size: int = 7) -> str:
    words = ("the", "cat", "sat")
    rows = [f"{w} {' '.join(str(i + 0.1 * j) for j in range(size))}" for i, w in enumerate(words)]
    (tmp_path / "v.txt").write_text("\n".join(rows) + "\n")
    return str(tmp_path / "v.txt")


@pytest.mark.parametrize("frozen", [True, False])
def test_pretrained_vectors_stay_or_are_trained(tmp_path: Path, frozen: bool) -> None:
    model = LanguageModelConfig(vectors=vectors(tmp_path), freeze_vectors=frozen, tied=not frozen, hidden=6)
    lm = LanguageModel.from_examples(model, TokenizerConfig(), LINES)
    known = torch.tensor([lm.tokenizer.encode("the cat sat")])
    before = lm.net.embed(known).detach().clone()
    assert before.shape == (1, 3, 7)
    # As in the file, but for the scale.
    assert torch.corrcoef(before[0])[0, 1] == pytest.approx(1.0)
    lm.loss(batch(torch.randint(4, 9, (2, 8))), 0.0).backward()
    torch.optim.SGD(lm.net.parameters(), 1.0).step()
    assert torch.equal(before, lm.net.embed(known)) == frozen


def test_a_model_with_vectors_is_loaded_without_their_file(tmp_path: Path) -> None:
    options = recipe(tmp_path, vectors=vectors(tmp_path), freeze_vectors=True, tied=False)
    lm = elman.train(options, tmp_path / "m")
    (tmp_path / "v.txt").unlink()
    assert elman.load(tmp_path / "m").perplexity(LINES) == lm.perplexity(LINES)


def test_what_is_held_out_is_the_end_of_the_text_and_its_words_are_unknown(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a b c\n" * 9 + "x y z\n")
    data = LanguageModelDataConfig(train=str(tmp_path / "a.txt"), holdout=0.1, cache=str(tmp_path / "cache"))
    training, held = LanguageModel.split(data)
    lm = LanguageModel.from_examples(SMALL, TokenizerConfig(), training)
    assert lm.tokenizer.items[4:] == ("a", "b", "c")
    a, b, c = lm.tokenizer.encode("a b c")
    assert lm.encode(training).ids.tolist() == [a, b, c, EOS] * 9
    assert lm.encode(held).ids.tolist() == [1, 1, 1, EOS]
    assert lm.encode(held).characters is None


def test_a_second_start_reads_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.txt").write_text("\n".join(LINES))
    text = read_corpus(
        LanguageModelDataConfig(cache=str(tmp_path / "cache")), str(tmp_path / "a.txt"), train=True
    )
    first = LanguageModel.from_examples(SMALL, TokenizerConfig(), text)
    ids = first.encode(text).ids

    def refuse(*_, **__):
        raise AssertionError("the text was read again")

    monkeypatch.setattr(lm_text, "read_lines", refuse)
    monkeypatch.setattr("elman.text.corpus_cache.read_lines", refuse)
    second = LanguageModel.from_examples(SMALL, TokenizerConfig(), text)
    assert second.tokenizer.items == first.tokenizer.items
    assert isinstance(second.encode(text).ids, np.memmap)
    assert np.array_equal(second.encode(text).ids, ids)
    monkeypatch.undo()
    (kept,) = (tmp_path / "cache").glob("*.tokens/tokenizer/vocab.json")
    kept.write_text(kept.read_text().replace(first.tokenizer.items[-1], "another"))
    third = LanguageModel.from_examples(SMALL, TokenizerConfig(), text)
    assert third.tokenizer.items == first.tokenizer.items, "a damaged vocabulary is learnt anew"
    (tmp_path / "a.txt").write_text("something else")
    assert "else" in LanguageModel.from_examples(SMALL, TokenizerConfig(), text).tokenizer.items


def test_characters_have_newlines_for_ends() -> None:
    lm = LanguageModel.from_examples(SMALL, TokenizerConfig(kind="chars"), ["ab", "b"])
    assert lm.tokenizer.items[lm.end] == "\n"
    assert lm.tokenizer.decode(lm.encode(["ab", "b"]).ids.tolist()) == "ab\nb\n"
    assert made().end == EOS


def test_large_text_is_reported_while_it_is_encoded(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(("a b c " * 20000 + "\n") * 20)
    said = []
    text = TextCorpus((str(tmp_path / "a.txt"),), folder=tmp_path, report=lambda *how: said.append(how))
    text.encode(text.learn(TokenizerConfig()))
    assert {what for what, _, _ in said} == {"reading", "encoding"}
    assert all(done % 120_001 == 0 for what, done, _ in said if what == "reading"), "whole lines and their ends"
    assert said[-1][1] == said[-1][2] == (tmp_path / "a.txt").stat().st_size


@pytest.mark.parametrize("packed", [False, True], ids=["file", "gzip"])
def test_the_size_of_a_part_is_its_share_of_all_text(tmp_path: Path, monkeypatch, packed: bool) -> None:
    """Also where only the beginning of the text was read for it."""
    content = b"the dog\n" * 400
    path = tmp_path / ("a.txt.gz" if packed else "a.txt")
    path.write_bytes(gzip.compress(content) if packed else content)
    text = TextCorpus((str(path),))
    for sample in (10**6, 80):
        monkeypatch.setattr(lm_text, "SAMPLE", sample)
        for part, share in [(text, 1.0), (replace(text, begin=0.25, end=0.75, share=0.5), 0.25)]:
            facts = part.measure()
            assert (facts.examples, facts.words, facts.characters) == (400 * share, 1200 * share, 3200 * share)
            assert (facts.types, facts.longest) == (2, 2)


def test_small_texts_are_cut_into_few_streams(tmp_path: Path) -> None:
    def streams(tokens: int) -> int:
        text = LanguageModelDataset(np.zeros(tokens, np.uint16), None)
        return made().build_batches(text, LanguageModelDataConfig(bptt=10), 0).windows.streams

    assert [streams(n) for n in (50, 3_000, 10**6)] == [1, 3, 32]


def test_interrupted_training_keeps_its_carried_state(tmp_path: Path) -> None:
    """As a model folder: stopped by time, then resumed with more of it, at a rate that time does not change."""
    options = recipe(tmp_path, dropout=0.1)
    rate = {"lr": 0.02, "schedule": "constant", "warmup": 0.0}
    options["training"] = {"epochs": 2, "checkpoint_minutes": 1e-9, **rate}
    whole = run_recipe(build(options), tmp_path / "whole").model
    short = {**options, "training": {**options["training"], "minutes": 1e-4}}
    run_recipe(build(short), tmp_path / "m")
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    assert config["training"]["minutes"] == 1e-4
    resumed = run_recipe(build(options), tmp_path / "m", resume=True).model
    for one, other in zip(whole.net.parameters(), resumed.net.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"softmax": "adaptive"}, "set it to false"),
        ({"vectors": "v", "freeze_vectors": True}, "set it to false"),
        ({"freeze_vectors": True}, "no vectors"),
        ({"cutoffs": (3,)}, "softmax is not"),
        ({"weight_drop": 1.0}, "weight_drop is 1.0"),
        ({"last_hidden": -1}, "last_hidden is -1"),
        ({"cell": "lstn"}, "did you mean 'lstm'"),
        ({"mogrifier_rank": 2}, "mogrifier_rounds is 0"),
        ({"softmax": "adaptive", "tied": False, "mixtures": 2}, "an adaptive softmax is not mixed"),
        ({"softmax": "adaptive", "tied": False, "softmax_samples": 9}, "samples is 9, .* not for an adaptive"),
        ({"mixtures": 2, "frequency_bias": True}, "frequency_bias is True, .* not for a mixture"),
        ({"ngram_least": 2, "ngrams": 2}, "ngrams is 2; it must be 3 or more"),
        ({"mixture_dropout": 0.1}, "one softmax is no mixture"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        LanguageModelConfig(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"mogrifier_rank": 2, "mogrifier_rounds": 1},
        {"softmax": "adaptive", "tied": False, "cutoffs": (3,)},
        {"softmax_samples": 9, "frequency_bias": True},
        {"ngram_least": 2, "ngrams": 3},
        {"ngrams": 2},
        {"mixture_dropout": 0.1, "mixtures": 2},
        {"vectors": "v", "tied": True},
        {"vectors": "v", "freeze_vectors": True, "tied": False},
    ],
)
def test_options_that_can_be_are_taken(options: dict[str, object]) -> None:
    assert LanguageModelConfig(**options, hidden=3, last_hidden=2, layers=3).widths == [3, 3, 2]


def test_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="no text"):
        made().perplexity([])


def test_the_mean_of_the_loss_is_that_of_what_counts() -> None:
    lm = made()
    some = batch(torch.randint(4, 9, (2, 8)))
    mask = torch.rand(2, 7) < 0.5
    _, hs = lm.net.read(lm.net.begin(2), some.ids)
    nats = -lm.net.output.log_probabilities(hs).gather(-1, some.targets[..., None])[..., 0]
    found = lm.loss(replace(some, mask=mask), 0.0)
    torch.testing.assert_close(found, weighted_mean(nats, mask))


@pytest.mark.parametrize("kind", ["scheduled", "mixer"])
@pytest.mark.parametrize("name", ["activation_penalty", "temporal_penalty"])
def test_costs_of_the_outputs_of_a_window_are_refused_where_tokens_come_one_by_one(kind, name):
    both = {"model": {name: 1.0}, "objective": {"kind": kind}}
    with pytest.raises(ConfigError, match=rf"model\.{name} is for windows .* set it to 0"):
        build({"task": "lm", **both})
    build({"task": "lm", "objective": both["objective"]})
    build({"task": "lm", "model": both["model"], "objective": {"kind": "professor"}})


def test_generation_finds_all_it_asks_of_the_network_where_protocols_look() -> None:
    """From Python 3.12 on, a protocol sees what a class or an instance has, not what __getattr__ finds."""
    net = made().net
    for name in ("training", "output", "begin", "read", "step", "train", "modules", "parameters"):
        assert getattr_static(net, name, None) is not None, name
