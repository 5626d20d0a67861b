"""The tagger: laws of its answers, how sure they are against enumeration, and what it reads."""

import json
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import elman
from elman import artifact
from elman.config import to_plain
from elman.errors import ConfigError, DataError, ModelError
from elman.metrics import span_scores
from elman.pipeline.recipe import recipe_class
from elman.tasks.config import TokenizerConfig
from elman.tasks.tagger.analysis import _pack
from elman.tasks.tagger.tagset import Piece
from elman.tasks.tagger.task import Tagger, TaggerConfig, TaggerDataConfig, TaggerExample, read_examples
from elman.tasks.word_batch import collate
from elman.text.spans import convert_tags, tags_to_spans
from tests.model_folder import store_model
from tests.tasks.names import OUTPUTS, TINY, conll, conllu, examples, fresh, trained
from tests.unsigned import drop_digests

SENTENCES = [
    ["Ann", "Smith", "saw", "York"],
    ["in"],
    [],
    ["the", "dog", "saw", "Bob", "Lee", "Smith", "in", "New", "York"],
    ["zebra", "Ann"],
]
SCHEMES = ("BIO", "IOB1", "BIOES")


def approximately(tagging):
    """An answer that may differ in the last digits."""
    tags, confidence, found, n_best = tagging
    return (
        tags,
        pytest.approx(confidence, abs=1e-5),
        [(span, pytest.approx(p, abs=1e-5)) for span, p in found],
        [(other, pytest.approx(p, abs=1e-5)) for other, p in n_best],
    )


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("cell", ["elman", "gru", "lstm"])
def test_every_output_learns_with_every_cell_to_be_always_right(output, cell):
    torch.manual_seed(1)
    model = Tagger.from_examples(
        TaggerConfig(**TINY, output=output, cell=cell), TokenizerConfig(), examples(30)
    )
    losses = trained(model, examples(30), 60)
    assert losses[-1] < losses[0] / 5
    scores = model.evaluate_dataset(model.encode(examples(30)))
    assert (scores["f1"], scores["accuracy"]) == (100, 100)


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "mean"},
        {"output": "autoregressive"},
        {"dropout": 0.3, "word_dropout": 0.1},
        {"characters": "cnn", "casing": True, "affixes": 2},
        {"characters": "lstm", "layers": 2, "bidirectional": False},
        {"scheme": "BIOES"},
    ],
    ids=str,
)
def test_every_option_learns(options):
    model = fresh(columns=("ner", "pos"), **options)
    losses = trained(model, examples(20, columns=("ner", "pos")), 25)
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("output", OUTPUTS)
def test_one_by_one_is_all_together(output):
    model = fresh(output=output, characters="cnn")
    together = model.analyse(SENTENCES, n_best=3)
    assert model.tag(SENTENCES) == [one.tags for (one,) in together]
    for sentence, answer in zip(SENTENCES, together, strict=True):
        (alone,) = model.analyse([sentence], n_best=3)
        assert alone == [approximately(tagging) for tagging in answer]
        assert model.tag([sentence]) == [answer[0].tags]
    assert model.analyse(SENTENCES[::-1], n_best=3)[::-1] == [
        [approximately(tagging) for tagging in answer] for answer in together
    ]


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_sentence_without_words_has_one_answer_without_tags(output):
    model = fresh(output=output)
    assert model.tag([[], ""]) == [[], []]
    assert model.analyse([[]], n_best=3) == [[([], [], [], [([], 1.0)])]]
    assert model.tag([]) == model.analyse([]) == []


@pytest.mark.parametrize("output", OUTPUTS)
@given(tail=st.lists(st.integers(0, 6), min_size=1, max_size=4))
def test_padding_is_inert(output, tail):
    torch.manual_seed(0)
    model = fresh(output=output)
    _, forms = model.featurizer.sentences([["Ann", "saw", "the", "dog", "in", "York"]])
    short = collate([np.array([1, 2, 3], np.int32)], forms)
    long = collate([np.array([1, 2, 3, *tail], np.int32)], forms)
    mask = torch.arange(3 + len(tail))[None] < 3
    tags = torch.tensor([[0, 1, 2]])
    (head,) = model.heads
    with torch.no_grad():
        one, two = model.net(short), model.net(long._replace(mask=mask))
        torch.testing.assert_close(two[:, :3], one, rtol=0, atol=1e-5)
        for padding in (0, 1):
            padded = torch.nn.functional.pad(tags, (0, len(tail)), value=padding)
            left, right = head.loss(one, tags, short.mask), head.loss(two, padded, mask)
            torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-4)
        best = head.best(two, mask)
    assert torch.equal(best[:, :3], head.best(one, short.mask))
    assert not best[:, 3:].any()


def every_answer(model: Tagger, words: list[str]) -> tuple[list[list[str]], np.ndarray]:
    """All sequences of trained tags, and the probability of each under the loss."""
    items, (head,) = model.tagsets[0].labels.items, model.heads
    paths = torch.tensor(list(product(range(len(items)), repeat=len(words))))
    rows, forms = model.featurizer.sentences([words])
    with torch.no_grad():
        _, ys = model.read_words(rows, forms)
        ys = ys.expand(len(paths), -1, -1)
        p = (-head.loss(ys, paths, torch.ones_like(paths, dtype=torch.bool)).double()).exp()
    return [[items[i] for i in path] for path in paths.tolist()], p.numpy()


CASES = [
    *product(("crf", "autoregressive"), SCHEMES),
    # Where ends are marked and nothing is forbidden, only the tags of a span are asked for.
    *product(("softmax",), ("BIO", "IOB1")),
]


@pytest.mark.parametrize(("output", "scheme"), CASES)
def test_confidences_are_those_of_the_enumeration_of_all_answers(output, scheme):
    found = 0
    for seed in range(4):
        torch.manual_seed(seed)
        model = fresh(scheme, output=output, beam=1000)
        for words in (["Ann", "York", "York"], ["saw", "Smith"], ["Ann", "Ann", "in"]):
            answers, p = every_answer(model, words)
            if output != "softmax":
                p = p * [convert_tags(tags, scheme) == tags for tags in answers]
            p = p / p.sum()
            ((tagging,),) = model.analyse([words])
            assert tagging.tags == answers[p.argmax()]
            for i, tag in enumerate(tagging.tags):
                expected = sum(q for q, tags in zip(p, answers, strict=True) if tags[i] == tag)
                assert tagging.confidence[i] == pytest.approx(expected, abs=1e-5)
            assert [span for span, _ in tagging.spans] == tags_to_spans(tagging.tags)
            for span, chance in tagging.spans:
                expected = sum(q for q, t in zip(p, answers, strict=True) if span in tags_to_spans(t))
                assert chance == pytest.approx(expected, abs=1e-5)
                found += 1
    assert found > 5


def test_a_span_is_less_certain_than_its_tags_and_each_is_found_in_one_batch():
    model = fresh(output="crf")
    for (tagging,) in model.analyse(SENTENCES * 3):
        for span, chance in tagging.spans:
            assert 0 <= chance <= min(tagging.confidence[span.start : span.end]) + 1e-5


PIECES = st.builds(Piece, st.just(1), st.integers(0, 4), st.lists(st.integers(0, 2), min_size=1, max_size=3))


@given(st.lists(st.tuples(st.integers(0, 2), PIECES), min_size=1))
def test_pieces_that_share_a_row_keep_their_tags(pieces):
    """Also the first of all tags, which is in spans where few words are outside of them."""
    rows, of, places = _pack(pieces, 7)
    for (sentence, piece), (row, start, stop) in zip(pieces, places, strict=True):
        assert (of[row], start) == (sentence, piece.start)
        assert rows[row][start:stop].tolist() == [*piece.tags]


@pytest.mark.parametrize("output", ["crf", "autoregressive"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_answers_are_well_formed_whatever_the_weights(output, scheme):
    for seed in range(5):
        torch.manual_seed(seed)
        model = fresh(scheme, output=output)
        for (tagging,) in model.analyse(SENTENCES, n_best=4):
            for tags, _ in tagging.n_best:
                assert convert_tags(tags, scheme) == tags


@pytest.mark.parametrize("trained_in", SCHEMES)
@pytest.mark.parametrize("written", SCHEMES)
def test_answers_are_in_the_scheme_of_the_file_whatever_they_are_trained_in(written, trained_in):
    torch.manual_seed(1)
    options = TINY | {"scheme": trained_in}
    model = Tagger.from_examples(TaggerConfig(**options), TokenizerConfig(), examples(30, 0, written))
    some = examples(30, 0, written)
    trained(model, some, 60)
    assert model.tag(e.words for e in some) == [list(e.tags[0]) for e in some]
    for e, (tagging,) in zip(some, model.analyse([e.words for e in some]), strict=True):
        assert [span for span, _ in tagging.spans] == tags_to_spans(e.tags[0])


def test_ill_formed_spans_are_learnt_as_the_spans_that_they_are():
    good = examples(30)
    bad = [e._replace(tags=(tuple(t.replace("B-", "I-") for t in e.tags[0]),)) for e in good[:10]]
    model = Tagger.from_examples(TaggerConfig(**TINY), TokenizerConfig(), good[10:] + bad)
    assert model.tagsets[0].trained == "BIO"
    trained(model, good[10:] + bad, 40)
    alone = [
        e
        for e in examples(40, 9)
        if tags_to_spans(e.tags[0]) == tags_to_spans([t.replace("B-", "I-") for t in e.tags[0]])
    ]
    assert model.evaluate_dataset(model.encode(alone))["f1"] == 100


@pytest.mark.parametrize(("output", "length"), [("softmax", 5000), ("crf", 5000), ("autoregressive", 500)])
def test_long_sentences_are_tagged(output, length):
    model = fresh(output=output)
    words = (["Ann", "saw", "New", "York", "in"] * 1000)[:length]
    assert len(model.tag([words, ["in"]])[0]) == length
    ((tagging,),) = model.analyse([words], n_best=2)
    assert len(tagging.tags) == len(tagging.confidence) == length
    assert len(tagging.n_best) == 2, "though their probabilities are too small for a number"
    assert tagging.n_best[0][0] == tagging.tags


def test_save_then_load_is_identity(tmp_path):
    for output, columns in product(OUTPUTS, (("ner",), ("pos", "ner"))):
        options = {"characters": "lstm", "casing": True, "affixes": 1, "scheme": "BIOES"}
        model = fresh(columns=columns, output=output, **options)
        config = to_plain(recipe_class("tagger")(model=model.config))
        store_model(model, tmp_path / output, config=config, metrics={}, card="")
        again = elman.load(tmp_path / output)
        assert isinstance(again, elman.Tagger)
        assert again.tagsets == model.tagsets
        assert again.config == model.config
        assert again.analyse(SENTENCES, n_best=3) == model.analyse(SENTENCES, n_best=3)


@pytest.mark.parametrize("damage", ["[]", "{}", "[3]", '[{"column": "x"}]', "nothing"])
def test_damaged_tags_are_refused(tmp_path, damage):
    model = fresh()
    config = to_plain(recipe_class("tagger")(model=model.config))
    store_model(model, tmp_path, config=config, metrics={}, card="")
    drop_digests(tmp_path)
    (tmp_path / "labels.json").write_text(damage)
    with pytest.raises(ModelError, match=r"labels\.json: the file is damaged"):
        artifact.load(tmp_path)


def test_tags_of_other_weights_are_refused(tmp_path):
    model = fresh()
    config = to_plain(recipe_class("tagger")(model=model.config))
    store_model(model, tmp_path, config=config, metrics={}, card="")
    stored = json.loads((drop_digests(tmp_path) / "labels.json").read_text())
    stored[0]["labels"].append("B-ORG")
    (tmp_path / "labels.json").write_text(json.dumps(stored))
    with pytest.raises(ModelError, match="disagree"):
        artifact.load(tmp_path)


def test_several_columns_have_one_encoder_and_a_head_each():
    some = examples(30, columns=("pos", "ner"))
    model = fresh(columns=("pos", "ner"))
    assert [type(head).__name__ for head in model.net.heads] == ["SoftmaxHead", "CRFHead"]
    trained(model, some, 60)
    assert model.tag_columns(e.words for e in some) == [[*map(list, e.tags)] for e in some]
    assert model.tag([["Ann"]]) == [["NOUN"]], "the first column"
    scores = model.evaluate_dataset(model.encode(some))
    ner = [f"ner_{name}" for name in ("f1", "precision", "recall", "accuracy")]
    quality = ["nll", "ece", "ner_nll", "ner_ece"]
    assert list(scores) == ["accuracy", *ner, "mean", *quality, "tokens", "sentences"]


def test_the_best_weights_are_those_that_are_good_at_all_columns():
    model = fresh(columns=("pos", "ner"))
    scores = model.evaluate_dataset(model.encode(examples(9, columns=("pos", "ner"))))
    assert scores[model.metric] == pytest.approx((scores["accuracy"] + scores["ner_f1"]) / 2)
    assert fresh(columns=("pos",)).metric == "accuracy"
    assert fresh().metric == "f1"


def test_the_loss_of_several_columns_is_the_sum_of_theirs():
    model = fresh(columns=("pos", "ner"))
    some = model.encode(examples(5, columns=("pos", "ner")))
    both = model.loss(some, 0.0).item()
    words, ys = model.read_words(some.rows, some.forms)
    alone = 0.0
    for i, head in enumerate(model.heads):
        for row, tags in enumerate(some.tags):
            n = tags.shape[1]
            one = (ys[row : row + 1, :n], torch.from_numpy(tags[i : i + 1]), words.mask[row, None, :n])
            alone += head.loss(*one).item() / len(some)
    assert both == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_the_loss_of_a_batch_is_the_weighted_mean_of_its_parts(loss):
    """So two processes, or two accumulated batches, have the gradient of one."""
    model = fresh(loss=loss)
    data = model.encode(examples(7))
    parts = [data.pick(range(rank, len(data), 3)) for rank in range(3)]
    losses = [model.loss(part, 0.0).item() for part in parts]
    mean = np.average(losses, weights=[model.weight(part) for part in parts])
    assert mean == pytest.approx(model.loss(data, 0.0).item(), rel=1e-5)
    assert model.weight(data.pick([])) == 0


def test_evaluate_counts_what_tag_gets_right():
    model, some = fresh(), examples(20, seed=3)
    some.append(TaggerExample(("zebra", "Ann"), (("O", "B-PER"),)))
    guess = model.tag(e.words for e in some)
    gold = [e.tags[0] for e in some]
    scores = model.evaluate_dataset(model.encode(some))
    right = [a == b for g, p in zip(gold, guess, strict=True) for a, b in zip(g, p, strict=True)]
    assert scores["accuracy"] == pytest.approx(100 * np.mean(right))
    assert scores["unseen_accuracy"] == 100 * right[-2], "of the zebra"
    overall = span_scores([*map(tags_to_spans, gold)], [*map(tags_to_spans, guess)]).overall
    assert (scores["f1"], scores["precision"]) == (overall.f1, overall.precision)
    assert (scores["tokens"], scores["sentences"]) == (len(right), 21)


def test_a_tag_that_was_never_trained_counts_as_wrong_and_cannot_be_trained_on():
    model = fresh()
    strange = TaggerExample(("Ann", "saw"), (("B-ORG", "O"),), ("ner",), "new.conll:12")
    data = model.encode([strange])
    guess = model.tag([strange.words])[0]
    assert model.evaluate_dataset(data)["accuracy"] == 100 * (guess[1] == "O") / 2
    assert model.evaluate_dataset(data)["recall"] == 0
    with pytest.raises(DataError, match=r"new\.conll:12: the tag 'B-ORG' of word 1, 'Ann', is none"):
        model.fit_statistics(data)


def test_a_tag_that_marks_no_span_cannot_be_scored_among_spans():
    with pytest.raises(DataError, match="x:3: the tag 'NOUN' of column ner marks no span"):
        fresh().encode([TaggerExample(("Ann",), (("NOUN",),), ("ner",), "x:3")])


def test_other_columns_than_those_of_the_tagger_are_refused():
    with pytest.raises(DataError, match="toy:1: 2 columns of tags, the tagger has 1"):
        fresh().encode(examples(1, columns=("pos", "ner")))


def test_raw_text_is_cut_into_words():
    model = fresh()
    assert model.split_words("Ann saw York.") == ["Ann", "saw", "York", "."]
    assert model.tag(["Ann saw York."]) == model.tag([["Ann", "saw", "York", "."]])


def test_words_are_known_as_they_are_folded():
    model = fresh()
    assert model.tag([["ANN", "york"]]) == model.tag([["ann", "YORK"]])


def written(tmp_path, name: str, text: str) -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def test_columns_are_read_by_number_and_conllu_by_name(tmp_path):
    file, ud = conll(tmp_path / "a.conll", 9), conllu(tmp_path / "a.conllu", 9)
    pos, ner = (examples(9, columns=(name,)) for name in ("pos", "ner"))
    for found, expected, names in (
        (read_examples(TaggerDataConfig(), file), ner, ("3",)),
        (read_examples(TaggerDataConfig(column="2"), file), pos, ("2",)),
        (read_examples(TaggerDataConfig(), ud), pos, ("upos",)),
        (read_examples(TaggerDataConfig(column="5"), ud), ner, ("xpos",)),
    ):
        found = list(found)
        assert [e[:2] for e in found] == [e[:2] for e in expected]
        assert {e.columns for e in found} == {names}
    both = list(read_examples(TaggerDataConfig(column="xpos, upos"), ud))
    assert [e[1] for e in both] == [e.tags for e in examples(9, columns=("ner", "pos"))]


def test_an_example_knows_the_line_of_its_first_word(tmp_path):
    row = "\t".join(["1", "Ann", *"________"]) + "\n"
    file = written(tmp_path, "a.conllu", f"\n# text = Ann\n{row}\n\n# x\n# y\n{row}")
    assert [e.where for e in read_examples(TaggerDataConfig(), file)] == [f"{file}:3", f"{file}:8"]


def test_words_and_tags_may_be_two_files(tmp_path):
    files = (written(tmp_path, "seq.in", "Ann saw\n\nYork\n"), written(tmp_path, "seq.out", "B O\n\nB\n"))
    found = list(read_examples(TaggerDataConfig(), files))
    assert [e[:2] for e in found] == [(("Ann", "saw"), (("B", "O"),)), (("York",), (("B",),))]
    assert [e.where for e in found] == [f"{files[0]}:1", f"{files[0]}:3"]
    with pytest.raises(ConfigError, match="no columns"):
        list(read_examples(TaggerDataConfig(column="2"), files))
    with pytest.raises(ConfigError, match="not in 3"):
        list(read_examples(TaggerDataConfig(), (*files, files[0])))
    short = written(tmp_path, "short.out", "B O\n\nB O\n")
    with pytest.raises(DataError, match=r"short\.out:3: 2 tags for the 1 words of .*seq\.in:3"):
        list(read_examples(TaggerDataConfig(), (files[0], short)))


@pytest.mark.parametrize("text", ["\n", "\n\n  \n"])
def test_files_without_sentences_are_refused(tmp_path, text):
    file = written(tmp_path, "a.conll", text)
    with pytest.raises(DataError, match=r"a\.conll: the file has no sentences"):
        list(read_examples(TaggerDataConfig(), file))
    with pytest.raises(DataError, match=r"a\.conll: the file has no sentences"):
        list(read_examples(TaggerDataConfig(), (file, file)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"hidden": 0}, "hidden is 0"),
        ({"beam": 0}, "beam is 0"),
        ({"tag_size": 0}, "tag_size is 0"),
        ({"dropout": 1.0}, "dropout is 1.0"),
        ({"cell": "lstmm"}, "did you mean 'lstm'"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        TaggerConfig(**options)


@pytest.mark.parametrize("kind", ["chars", "bytes", "bpe"])
def test_only_words_are_tagged(kind):
    with pytest.raises(ConfigError, match=f"tokens.kind is '{kind}'"):
        Tagger.from_examples(TaggerConfig(**TINY), TokenizerConfig(kind=kind), examples(3))
