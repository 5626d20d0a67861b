"""A trained model goes on with new labels and words: rows are added, and what it said before stays so."""

import pytest
import torch
from torch import nn

from elman import artifact
from elman.layers.embedding import Embedding, PretrainedEmbedding
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.growth import Growth
from elman.tasks.language_model import LanguageModel, LanguageModelConfig
from elman.tasks.pairs.task import Pairs, PairsConfig, PairsExample
from elman.tasks.seq2seq.loss import teacher_forced
from elman.tasks.seq2seq.speller import SLOTS
from elman.tasks.tagger.task import Tagger, TaggerConfig, TaggerExample
from elman.text.vocab import UNK
from tests.tasks import names, toy_pairs
from tests.tasks.topics import TINY, examples

OLD = examples(40)
NEW = [ClassifierExample("wherefore is the réason", "cause", "b:1"), ClassifierExample("when", "time", "b:2")]
TEXTS = [e.text for e in OLD[:9]] + ["wherefore is the réason", "quite unseen words"]
SPELLED = {"characters": "cnn", "casing": True, "affixes": 2, "character_size": 3, "character_hidden": 4}
WORDS = TokenizerConfig()


def scatter(net: nn.Module) -> None:
    """Weights far from zero, in float64, so that equal logits are no accident."""
    torch.manual_seed(3)
    for weight in net.parameters():
        nn.init.normal_(weight, std=0.7)
    for layer in net.modules():
        if isinstance(layer, Embedding):
            layer.E.weight.data[0] = 0
    net.double().eval()


def classifier(tokens: TokenizerConfig = WORDS, **options) -> Classifier:
    made = Classifier.from_examples(ClassifierConfig(**TINY | options), tokens, OLD)
    scatter(made.net)
    return made


def logits(model: Classifier, texts: list[str]) -> torch.Tensor:
    rows, forms = model.featurizer.texts(texts)
    with torch.no_grad():
        return torch.cat([model.net(model.collate([(row,)], forms)) for row in rows])


def vectors(tmp_path) -> str:
    file = tmp_path / "vectors.txt"
    file.write_text("when 1 2 3\nunseen 2 1 0\nquite 3 3 1\n")
    return str(file)


@pytest.mark.parametrize(
    "options",
    [
        {},
        SPELLED,
        {"characters": "lstm"},
        {"mlp": 5, "pool": "attention"},
        {"encoder": "bag"},
        {"vectors": "here"},
        {"vectors": "here", "freeze_vectors": True, "keep_embedding": True, "affixes": 1},
    ],
)
def test_whatever_is_read_old_labels_have_the_logits_they_had(options, tmp_path):
    if "vectors" in options:
        options = options | {"vectors": vectors(tmp_path)}
    old = classifier(**options)
    new, growth = old.grow(WORDS, NEW)
    new.net.eval()
    assert growth.labels == ("cause",)
    assert growth.idle == 1
    assert growth.tokens["words"] == 2
    assert new.labels.items == (*old.labels.items, "cause")
    assert set(new.featurizer.tokenizer.items) == {*old.featurizer.tokenizer.items, "wherefore", "réason"}
    before, after = logits(old, TEXTS), logits(new, TEXTS)
    assert after.shape[1] == 3
    torch.testing.assert_close(after[:, :2], before, rtol=0, atol=1e-12)


def test_weights_are_kept_bit_for_bit():
    old = classifier(**SPELLED)
    new, _ = old.grow(WORDS, NEW)
    larger = dict(new.net.named_parameters())
    for name, weight in old.net.named_parameters():
        assert torch.equal(larger[name][tuple(map(slice, weight.shape))], weight), name


def test_nothing_new_is_the_very_model():
    old = classifier(**SPELLED)
    new, growth = old.grow(WORDS, OLD)
    assert new is old
    assert growth.describe() == "no new labels, no new words"


def test_new_rows_are_trained_and_saved(tmp_path):
    new, _ = classifier(**SPELLED).grow(WORDS, NEW)
    data = new.encode(NEW)
    optimizer = torch.optim.Adam(new.net.parameters(), 0.05)
    for _ in range(30):
        optimizer.zero_grad()
        new.loss(data, 0.0).backward()
        optimizer.step()
    new.net.float().eval()
    assert [p.label for p in new.classify(e.text for e in NEW)] == ["cause", "time"]
    artifact.save_model(new, tmp_path / "m")
    again = artifact.load(tmp_path / "m", Classifier)
    assert [p.label for p in again.classify(e.text for e in NEW)] == ["cause", "time"]


@pytest.mark.parametrize(
    ("tokens", "options", "left"),
    [
        (TokenizerConfig(size=18), {}, 2),
        (WORDS, {"input": "one-hot"}, 2),
        (TokenizerConfig(kind="bpe", size=300), {}, 0),
        (TokenizerConfig(min_count=2), {}, 0),
    ],
)
def test_what_has_no_room_stays_unknown_and_is_counted(tokens, options, left):
    old = classifier(tokens, **options)
    new, growth = old.grow(tokens, [*NEW, *OLD])
    assert new.featurizer.tokenizer.items == old.featurizer.tokenizer.items
    assert growth.left == left
    assert new.encode(NEW)


def test_characters_of_a_character_model_are_added():
    chars = TokenizerConfig(kind="chars")
    _, growth = classifier(chars).grow(chars, NEW)
    assert growth.tokens == {"characters": 1, "values": 0}, "é"


def test_pairs_grow_alike():
    some = [PairsExample(e.text, "the year", e.label) for e in OLD]
    more = [PairsExample("a réason", "why", "cause"), *some[:2]]
    config = PairsConfig(hidden=4, embedding=5, mlp=6, attention="soft")
    old = Pairs.from_examples(config, TokenizerConfig(lower=True), some)
    scatter(old.net)
    new, growth = old.grow(TokenizerConfig(lower=True), more)
    new.net.eval()
    assert growth.labels == ("cause",)
    found = []
    for model in (old, new):
        rows, forms = model.encode_texts([("a réason", "why"), ("when", "the year")])
        with torch.no_grad():
            found.append(torch.cat([model.net(model.collate([row], forms)) for row in rows])[:, :2])
    torch.testing.assert_close(found[1], found[0], rtol=0, atol=1e-12)


SENTENCES = names.examples(30, columns=("ner", "pos"))
ORGANISED = [
    TaggerExample(("Ünion", "saw", "Ann"), (("B-ORG", "O", "B-PER"), ("NOUN", "VERB", "PROPN")), ("ner", "pos"))
]


@pytest.mark.parametrize("output", names.OUTPUTS)
def test_a_tagger_scores_old_tags_as_before(output):
    options = names.TINY | {"output": output, "scheme": "BIOES", "affixes": 1, "characters": "cnn"}
    lower = TokenizerConfig(lower=True)
    old = Tagger.from_examples(TaggerConfig(**options), lower, SENTENCES)
    scatter(old.net)
    new, growth = old.grow(lower, ORGANISED)
    new.net.eval()
    assert growth.labels == ("S-ORG", "PROPN")
    assert growth.idle == len(old.tagsets[0].labels) + len(old.tagsets[1].labels) - 4, (
        "all but O, S-PER, NOUN, VERB"
    )
    words = [("Ann", "saw", "York"), ("Ünion", "saw", "Ann")]
    for i, (before, after) in enumerate(zip(old.heads, new.heads, strict=True)):
        count, emissions = len(old.tagsets[i].labels), []
        for model, head in ((old, before), (new, after)):
            batch, ys = model.read_words(*model.featurizer.sentences(words))
            if output == "autoregressive":
                ys = head.states(ys, torch.tensor([[1, 0, 2], [0, 1, 0]]), batch.mask)
            emissions.append(head.emit(ys)[..., :count])
        torch.testing.assert_close(emissions[1], emissions[0], rtol=0, atol=1e-12)
        if output == "crf":
            assert torch.equal(after.crf.transitions[:count, :count], before.crf.transitions)
            assert after.crf.get_buffer("allowed").shape[0] == count + 2, "the boundary stays the last"
    assert len(new.tag([["Ünion", "saw"]])[0]) == 2
    new.loss(new.encode(ORGANISED), 0.0).backward()


def test_tags_without_examples_are_counted_but_not_o():
    old = Tagger.from_examples(TaggerConfig(**names.TINY), TokenizerConfig(), SENTENCES)
    tags = (("B-PER",), ("NOUN",))
    _, growth = old.grow(TokenizerConfig(), [TaggerExample(("Ann",), tags, ("ner", "pos"))])
    seen = {tag for e in SENTENCES for column in e.tags for tag in column}
    assert growth.idle == len(seen - {"O", "B-PER", "NOUN"})


def test_a_tagger_that_knows_all_is_the_very_one():
    old = Tagger.from_examples(TaggerConfig(**names.TINY), TokenizerConfig(), SENTENCES)
    assert old.grow(TokenizerConfig(), SENTENCES)[0] is old


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tied": False},
        {"mixtures": 2},
        {"vectors": "here"},
        {"vectors": "here", "freeze_vectors": True, "tied": False},
        {"softmax": "adaptive"},
    ],
)
def test_a_language_model_predicts_old_words_as_before(options, tmp_path):
    lines, more = ["once upon a time", "a tide upon"], ["once more a wave", "more"]
    if "vectors" in options:
        options = options | {"vectors": vectors(tmp_path)}
    if "softmax" in options:
        options |= {"tied": False}
    config = LanguageModelConfig(hidden=16, embedding=4, layers=1, **options)
    old = LanguageModel.from_examples(config, WORDS, lines)
    scatter(old.net)
    new, growth = old.grow(WORDS, more)
    if options.get("softmax"):
        assert (new, growth.left) == (old, 2)
        return
    new.net.eval()
    assert growth.tokens == {"words": 2}
    size = len(old.tokenizer.items)
    assert new.tokenizer.items[size:] == ("more", "wave"), "the most frequent first"
    hs, found = [], []
    with torch.no_grad():
        for model in (old, new):
            net = model.net
            hs.append(net.read(net.begin(1), torch.tensor([model.tokenizer.encode("once more upon wave")]))[1])
            mixed = "mixtures" in options
            seen = net.output.vectors(hs[-1])[..., 0, :] if mixed else hs[-1]
            found.append((net.output.softmax if mixed else net.output).logits(seen))
    before, after = found
    torch.testing.assert_close(hs[1], hs[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(after[..., :size], before, rtol=0, atol=1e-12)
    torch.testing.assert_close(after[..., size:].logsumexp(-1), before[..., UNK], rtol=0, atol=1e-12)


def test_bytes_and_subwords_have_nothing_to_add():
    for kind in ("bytes", "bpe"):
        tokens = TokenizerConfig(kind=kind)
        old = LanguageModel.from_examples(LanguageModelConfig(hidden=4, embedding=4), tokens, ["abc", "abd"])
        assert old.grow(tokens, ["éß"]) == (old, Growth())


@pytest.mark.parametrize(
    ("tokens", "options"),
    [
        (toy_pairs.CHARS, {}),
        (toy_pairs.CHARS, {"tied": False, "decoder": "luong", "layers": 1}),
        (toy_pairs.CHARS, {"ctc": 0.3}),
        (toy_pairs.JOINT, {"shared": True}),
        (toy_pairs.JOINT, toy_pairs.SINGLE),
        (toy_pairs.WORDS, {"copying": True, "vectors": "here"}),
    ],
)
def test_a_translator_writes_old_tokens_as_before(tokens, options, tmp_path):
    if "vectors" in options:
        options = options | {"vectors": vectors(tmp_path)}
    old = toy_pairs.made(tokens, **options)
    new, growth = old.grow(tokens, toy_pairs.pairs(("adb", "zw"), ("d", "zyv")))
    new.net.eval()
    assert sum(growth.tokens.values()) > 1
    size, found = len(old.tokenizers.target.items), []
    for model in (old, new):
        batch = model.collate([model.encode_pair("abca", "y"), model.encode_pair("cdb", "yx")])
        with torch.no_grad():
            hs = teacher_forced(model.net, batch).os
            found.append(model.net.softmax.logits(hs)[..., :size])
    torch.testing.assert_close(found[1], found[0], rtol=0, atol=1e-12)
    assert new.translate(["abd"])
    if old.net.speller:
        h = torch.randn(old.net.reader.output_size).double()
        before, after = (model.net.speller.W(h).view(-1, SLOTS) for model in (old, new))
        assert len(after) > size
        assert torch.equal(after[:size], before)
        torch.testing.assert_close(after[size:].logsumexp(0), before[UNK], rtol=0, atol=1e-12)


@pytest.mark.parametrize("joint", [False, True])
def test_a_translator_counts_what_has_no_room(joint):
    """Beside four special tokens there is room for five: a, b, c and two more, or x, y and three more."""
    sides = TokenizerConfig("chars", size=9)
    tokens = toy_pairs.TokenizerPairConfig(sides, sides, joint)
    old = toy_pairs.made(tokens, toy_pairs.pairs(("abc", "bca" if joint else "xy")))
    _, growth = old.grow(tokens, toy_pairs.pairs(("defg", "uvw"), ("h", "u")))
    taken = {"characters": 2} if joint else {"source characters": 2, "target characters": 3}
    assert growth.tokens == taken
    assert growth.left == (6 if joint else 3)


def test_the_line_says_all_that_is_new():
    growth = Growth(("x", "y"), 4, {"words": 317, "characters": 1, "affixes": 0}, 1)
    assert growth.describe() == (
        "2 new labels (x, y), 317 new words, 1 new character, 4 labels without examples kept, "
        "1 new token left unknown, for the vocabulary is full or fixed"
    )
    assert Growth(tuple("abcdefgh"), 1).describe() == (
        "8 new labels (a, b, c, d, e and 3 others), 1 label without examples kept"
    )
    assert Growth(tokens={"affixes": 1}).describe() == "1 new affix"


def test_words_that_only_the_file_of_vectors_has_stay_the_last(tmp_path):
    old = classifier(vectors=vectors(tmp_path), freeze_vectors=True)
    new, _ = old.grow(WORDS, NEW)
    before, after = (m.net.words.embed[0] for m in (old, new))
    assert isinstance(before, PretrainedEmbedding)
    assert torch.equal(before.get_buffer("given"), after.get_buffer("given"))
    assert new.featurizer.tokenizer.items[-2:] == old.featurizer.tokenizer.items[-2:] == ("unseen", "quite")
