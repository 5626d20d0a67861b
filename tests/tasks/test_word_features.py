"""The words of a task: the same alone and in company, after saving as before, known from a file or not."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from elman import artifact
from elman.config import to_plain
from elman.errors import ConfigError, ModelError
from elman.pipeline.recipe import recipe_class
from elman.tasks.classifier.task import Classifier, ClassifierConfig, ClassifierExample
from elman.tasks.config import TokenizerConfig
from elman.tasks.word_batch import WordFeaturesConfig, collate
from elman.tasks.word_features import WordFeaturizer
from elman.text.spelling import MAX_WORD_CHARS
from elman.text.vocab import PAD, SPECIALS, UNK
from tests.model_folder import store_model
from tests.tasks.topics import TINY, examples

SMALL = {"character_size": 3, "character_hidden": 4}
SPELLINGS = [
    {"characters": characters, "casing": casing, "affixes": affixes, **SMALL}
    for characters, casing, affixes in product(["", "cnn", "lstm"], [False, True], [0, 2])
]
EVERY = pytest.mark.parametrize(
    "options", SPELLINGS, ids=lambda o: f"{o['characters']}-{o['casing']}-{o['affixes']}"
)
ODD = [
    "",
    "when",
    "When is THE year 1984 in the city of the river of the town",
    "<unk> <pad> <s> </s>",
    "ж ☃ 中文 \u0301",
    "x" * (MAX_WORD_CHARS + 1) + " " + "where" * MAX_WORD_CHARS,
]


def trained_on() -> list[ClassifierExample]:
    """Every word of the topics, as it is and with a capital."""
    lines = examples(60)
    return [ClassifierExample(e.text.title() if i % 4 > 1 else e.text, e.label) for i, e in enumerate(lines)]


def classifier(tokens: TokenizerConfig | None = None, **options: object) -> Classifier:
    torch.manual_seed(0)
    made = Classifier.from_examples(
        ClassifierConfig(**(TINY | options)), tokens or TokenizerConfig(), trained_on()
    )
    made.net.eval()
    return made


def xs(made: Classifier, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """What the network sees of each word, and which places are words."""
    words = collate(*made.featurizer.texts(texts))
    with torch.no_grad():
        return made.net.words(words), words.mask


def chances(made: Classifier, texts: list[str]) -> torch.Tensor:
    names = made.labels.items
    return torch.tensor([[p.probabilities[name] for name in names] for p in made.classify(texts)])


@EVERY
def test_a_word_is_the_same_wherever_it_stands_and_padding_is_zero(options):
    made = classifier(**options)
    seen, mask = xs(made, ["the Year the", "of the", "", "x" * 40 + " the"])
    places = [(0, 0), (0, 2), (1, 1), (3, 1)]
    for place in places[1:]:
        torch.testing.assert_close(seen[place], seen[places[0]], rtol=0, atol=1e-6)
    assert not seen[~mask].any()
    assert mask.sum(1).tolist() == [3, 2, 0, 2]


@EVERY
def test_one_by_one_is_all_together(options):
    made = classifier(**options)
    seen, mask = xs(made, ODD)
    for row, real, text in zip(seen, mask, ODD, strict=True):
        alone, _ = xs(made, [text])
        torch.testing.assert_close(row[real], alone[0], rtol=0, atol=1e-6)
    together = chances(made, ODD)
    alone = torch.cat([chances(made, [text]) for text in ODD])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)
    assert torch.isfinite(together).all()


FULL = {"characters": "cnn", "casing": True, "affixes": 3, **SMALL}


@given(texts=st.lists(st.text(), max_size=4))
@example(texts=["", ""])
@example(texts=["\ud800 \x00"])
def test_any_text_has_a_label(texts):
    made = classifier(**FULL)
    assert len(made.classify(texts)) == len(texts)


@EVERY
def test_every_part_learns(options):
    made = classifier(**options).net.train()
    lexicon = classifier(**options).featurizer
    made(collate(*lexicon.texts(e.text for e in trained_on()))).square().sum().backward()
    assert [n for n, p in made.named_parameters() if p.grad is None or not p.grad.any()] == []


def stored(made: Classifier, folder: Path) -> Path:
    config = to_plain(recipe_class("classifier")(model=made.config))
    store_model(made, folder, config=config, metrics={}, card="")
    return folder


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    """Words of the training data, a word that it has not, and things that are no words."""
    file = tmp_path / "vectors.txt"
    lines = ["when 1 2 3", "city 2 1 -1", "decade 3 -1 1", "<unk> 9 9 9", "<pad> 9 9 9", "year -1 0 1"]
    file.write_text("\n".join([*lines, "Century 0 1 0", "decade 7 7 7", ""]))
    return str(file)


VECTORS = [
    {},
    {"freeze_vectors": True},
    {"keep_embedding": True},
    {"freeze_vectors": True, "keep_embedding": True},
]


@pytest.mark.parametrize("with_vectors", [None, *VECTORS], ids=str)
@pytest.mark.parametrize("options", [{}, FULL, FULL | {"casing": False}], ids=["", "full", "part"])
def test_save_then_load_is_identity(tmp_path, vectors, options, with_vectors):
    if with_vectors is not None:
        options = options | with_vectors | {"vectors": vectors}
    made = classifier(**options)
    folder = stored(made, tmp_path / "m")
    Path(vectors).unlink()
    again = artifact.load(folder)
    texts = [*ODD, "decade Century"]
    assert again.classify(texts) == made.classify(texts)
    assert again.featurizer.tokenizer == made.featurizer.tokenizer
    assert again.featurizer.spelling == made.featurizer.spelling
    _, forms = made.featurizer.sentences([["when", "decade", "nonsense"]])
    assert again.featurizer.in_training(forms).tolist() == made.featurizer.in_training(forms).tolist()
    thrice = artifact.load(stored(again, tmp_path / "n"))
    assert thrice.classify(texts) == made.classify(texts)


def test_nothing_of_an_earlier_model_stays_in_the_folder(tmp_path, vectors):
    folder = tmp_path / "m"
    stored(classifier(vectors=vectors, **FULL), folder)
    assert {"spelling.json", "further.json"} <= {path.name for path in folder.iterdir()}
    stored(classifier(), folder)
    left = {path.name for path in folder.iterdir()}
    assert not {"spelling.json", "further.json"} & left
    assert artifact.load(folder).classify(ODD)


@pytest.mark.parametrize("options", VECTORS, ids=str)
def test_a_word_that_only_the_file_has_is_known_and_never_changes(vectors, options):
    """Even under weight decay, which moves what has no gradient."""
    made = classifier(vectors=vectors, **options)
    given = made.net.words.embed[0]
    (new,), (old,), (unknown,) = map(made.featurizer.tokenizer.encode, ("decade", "when", "nonsense"))
    assert UNK == unknown < old < new
    ids = torch.tensor([[new, old, unknown, PAD]])
    before = given(ids).detach()
    file = torch.tensor([[3.0, -1, 1], [1, 2, 3]])
    torch.testing.assert_close(before[0, :2] / before[0, 0, 0], file / 3, msg="as in the file")
    data = made.encode([*trained_on(), ClassifierExample("decade decade", "time")])
    optimizer = torch.optim.AdamW(made.net.parameters(), 0.05, weight_decay=0.5)
    made.net.train()
    for _ in range(3):
        made.loss(data, 0.0).backward()
        optimizer.step()
    moved = (given(ids) != before)[0].any(-1).tolist()
    assert moved == [False, not options.get("freeze_vectors", False), True, False]


def test_words_of_the_file_need_no_room_in_the_embedding_beside_it(vectors):
    made = classifier(vectors=vectors, keep_embedding=True)
    given, beside = made.net.words.embed
    assert len(made.featurizer.tokenizer.items) - beside.E.num_embeddings == made.featurizer.further == 2
    seen, _ = xs(made, ["decade", "nonsense"])
    assert torch.equal(seen[0, 0, given.output_size :], seen[1, 0, given.output_size :])
    assert not torch.equal(seen[0, 0], seen[1, 0])


def test_unseen_is_what_the_training_data_do_not_have(vectors):
    made = classifier(vectors=vectors)
    words = ["when", "When", "decade", "Century", "nonsense", "<pad>"]
    _, forms = made.featurizer.sentences([words])
    assert made.featurizer.in_training(forms)[1:].tolist() == [True, True, False, False, False, False]


def test_folded_words_are_looked_for_folded(vectors):
    made = classifier(TokenizerConfig(lower=True), vectors=vectors, casing=True)
    tokenizer = made.featurizer.tokenizer
    assert "Century" not in tokenizer.items, "no text could have it"
    assert tokenizer.encode("DECADE") == tokenizer.encode("decade") != [UNK]
    seen, _ = xs(made, ["DECADE", "decade"])
    assert torch.equal(seen[0, 0, :3], seen[1, 0, :3])
    assert not torch.equal(seen[0, 0], seen[1, 0]), "but their casing tells them apart"


@pytest.mark.parametrize("count", [0, 1])
def test_as_many_further_words_are_known_as_asked(vectors, count):
    made = classifier(vectors=vectors, vector_words=count)
    assert (
        made.featurizer.tokenizer.items[len(made.featurizer.tokenizer.items) - count :] == ("decade",)[:count]
    )
    assert made.featurizer.further == count


@pytest.mark.parametrize("kind", ["chars", "bytes", "bpe"])
def test_tokens_that_are_no_words_get_no_further_ones(vectors, kind):
    tokens = TokenizerConfig(kind=kind, size=270 if kind == "bpe" else 0)
    known = classifier(tokens).featurizer.tokenizer.items[-1]
    with open(vectors, "a") as file:
        file.write(f"{known} 1 1 1\n")
    made = classifier(tokens, vectors=vectors)
    assert made.featurizer.further == 0
    assert made.classify(ODD)


def test_coverage_counts_every_word_of_the_data_that_has_a_vector(vectors):
    counts = {"when": 3, "When": 1, "of": 4, "decade": 2}
    lexicon = WordFeaturizer.learn(
        WordFeaturesConfig(vectors=vectors),
        TokenizerConfig(min_count=3).learn([" ".join([word] * n) for word, n in counts.items()]),
        Counter(counts).elements(),
    )
    further = ("city", "decade", "year", "Century")  # in the order of the file
    assert lexicon.tokenizer.items == (*SPECIALS, "of", "when", *further)
    assert lexicon.coverage.types == 50.0
    assert lexicon.coverage.tokens == 50.0, "when and decade, though decade is rare"


@pytest.mark.parametrize("kind", ["chars", "bytes", "bpe"])
@pytest.mark.parametrize("option", [{"characters": "cnn"}, {"casing": True}, {"affixes": 1}], ids=str)
def test_only_words_are_spelled(kind, option):
    with pytest.raises(ConfigError, match="only words are spelled"):
        classifier(TokenizerConfig(kind=kind, size=270 if kind == "bpe" else 0), **option)


def test_words_that_look_like_special_ones_are_ordinary_unknown_words():
    made = classifier(**FULL)
    _, forms = made.featurizer.texts(["<pad> <unk> <s> </s>"])
    assert forms.ids[0] == PAD
    assert forms.ids[1:].tolist() == [UNK] * (len(forms.ids) - 1)
    assert (forms.characters[1:, 0] != 0).all()
    sentences = [["<pad>", "<unk>", "<s>", "</s>"]]
    _, whole = made.featurizer.sentences(sentences)
    assert whole.ids.tolist() == [PAD, UNK, UNK, UNK, UNK]


def test_each_different_word_is_spelled_once():
    made = classifier(**FULL)
    rows, forms = made.featurizer.sentences([["a", "b", "a"], [], ["b", "A"]])
    assert [row.tolist() for row in rows] == [[1, 2, 1], [], [2, 3]]
    assert [len(part) for part in forms[:3]] == [4, 4, 4]
    words = collate(rows, forms)
    assert len(words.characters) == 4
    some = collate(rows[2:], forms)
    assert len(some.characters) == 2
    expected = forms.characters[rows[2], : some.characters.shape[1]]
    assert np.array_equal(some.characters[some.place[0]], expected)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"embedding": 0}, "embedding is 0"),
        ({"character_size": 0}, "character_size is 0"),
        ({"character_hidden": -1}, "character_hidden is -1"),
        ({"affixes": -1}, "affixes is -1"),
        ({"vector_words": -1}, "vector_words is -1"),
        ({"word_dropout": 1.0}, r"word_dropout is 1\.0"),
        ({"keep_embedding": True}, "no vectors are given"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        WordFeaturesConfig(**options)


@pytest.mark.parametrize("name", ["spelling.json", "further.json"])
@pytest.mark.parametrize("content", [None, b"", b"[1", b"null", b"7", b'["a"]'])
def test_a_damaged_or_missing_file_is_named(tmp_path, vectors, name, content):
    path = stored(classifier(vectors=vectors, **FULL), tmp_path / "m") / name
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=name.replace(".", r"\.")) as caught:
        artifact.load(tmp_path / "m")
    assert "\n" not in str(caught.value)


def test_an_adopted_vocabulary_must_be_of_the_same_size(tmp_path, vectors):
    folder = stored(classifier(vectors=vectors), tmp_path / "m")
    made = classifier(vectors=vectors)
    made.reuse_vocab(folder)
    assert made.featurizer.tokenizer == classifier(vectors=vectors).featurizer.tokenizer
    other = Classifier.from_examples(ClassifierConfig(**TINY), TokenizerConfig(min_count=5), trained_on())
    with pytest.raises(ModelError, match="its vocabulary differs"):
        other.reuse_vocab(folder)


def test_language_models_are_read_forward_or_backward_where_a_folder_is_given():
    given = [{}, {"lm_forward": "a"}, {"lm_backward": "b"}, {"lm_forward": "a", "lm_backward": "b"}]
    found = [WordFeaturesConfig(**folders).lm_folders for folders in given]
    assert found == [{}, {False: "a"}, {True: "b"}, {False: "a", True: "b"}]
