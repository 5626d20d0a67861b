"""Models in a spaCy pipeline: they annotate spaCy's own tokens, in batches, and are stored with it."""

import inspect
import pickle
import shutil
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import elman

spacy = pytest.importorskip("spacy")
# The shape checks of the test run wrap functions, and spaCy would read the names of the wrapper's arguments.
spacy.util.get_arg_names = lambda function: [*inspect.signature(function).parameters]
import elman.spacy  # noqa: E402

ROOT = Path(__file__).parents[2]
QUICK = {"hidden": 16, "epochs": 15, "lr": 0.03, "recipe": {"data": {"holdout": 0.0}}}
POS = [
    (["the", "dog", "barks"], ["DET", "NOUN", "VERB"]),
    (["a", "cat", "sleeps"], ["DET", "NOUN", "VERB"]),
] * 4
NER = [
    (["Anna", "Smith", "sees", "Bonn"], ["B-PER", "I-PER", "O", "B-LOC"]),
    (["he", "sees", "Anna", "Smith"], ["O", "O", "B-PER", "I-PER"]),
] * 5
TEXTS = [(f"the {a} {b}", label) for label, a in (("up", "bird"), ("down", "mole")) for b in "abcdef"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model folder for each component."""
    folder = tmp_path_factory.mktemp("models")
    elman.Tagger.train(POS, out=folder / "elman_tagger", **QUICK)
    elman.Tagger.train(NER, out=folder / "elman_ner", **QUICK)
    elman.Classifier.train(TEXTS, out=folder / "elman_textcat", **QUICK)
    return folder


@pytest.fixture
def nlp(models):
    """A blank English pipeline with all three."""
    made = spacy.blank("en")
    for name in ("elman_tagger", "elman_ner", "elman_textcat"):
        made.add_pipe(name, config={"model": str(models / name)})
    return made


def annotations(doc):
    tokens = [(token.text, token.tag_, token.pos_) for token in doc]
    return tokens, [(entity.text, entity.label_) for entity in doc.ents], doc.cats


def test_tags_are_those_of_the_model_on_the_tokens_of_spacy(nlp, models):
    doc = nlp("the dog\n\nbarks")
    assert [(token.text, token.tag_, token.pos_) for token in doc] == [
        ("the", "DET", "DET"),
        ("dog", "NOUN", "NOUN"),
        ("\n\n", "_SP", "SPACE"),
        ("barks", "VERB", "VERB"),
    ]
    words = [token.text for token in nlp("The dog isn't a cat-dog.")]
    tags = elman.load(models / "elman_tagger", elman.Tagger).tag([words])[0]
    assert [token.tag_ for token in nlp("The dog isn't a cat-dog.")] == tags


def test_entities_are_spans_of_tokens(nlp):
    doc = nlp("Anna \n Smith sees Bonn")
    assert [(entity.text, entity.label_) for entity in doc.ents] == [("Anna \n Smith", "PER"), ("Bonn", "LOC")]


def test_entities_that_were_there_before_stay(models):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "NAME", "pattern": "Smith sees"}])
    nlp.add_pipe("elman_ner", config={"model": str(models / "elman_ner")})
    doc = nlp("Anna Smith sees Bonn")
    assert [(entity.text, entity.label_) for entity in doc.ents] == [("Smith sees", "NAME"), ("Bonn", "LOC")]


def test_categories_are_the_probabilities_of_the_model(nlp, models):
    doc = nlp("the bird a")
    [found] = elman.load(models / "elman_textcat", elman.Classifier).classify(["the bird a"])
    assert doc.cats == pytest.approx(found.probabilities)
    assert max(doc.cats, key=doc.cats.get) == "up"


def test_each_sentence_is_tagged_by_itself_where_sentences_are_known(models):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("elman_ner", config={"model": str(models / "elman_ner")})
    doc = nlp("he sees Anna Smith . Anna Smith sees Bonn .")
    halves = [nlp(text) for text in ("he sees Anna Smith .", "Anna Smith sees Bonn .")]
    assert [str(entity) for entity in doc.ents] == [str(entity) for half in halves for entity in half.ents]


def test_a_stream_is_annotated_as_its_documents_are_one_by_one(nlp):
    texts = ["the dog barks", "", " ", "Anna Smith sees Bonn", "a mole", "the bird"] * 3
    streamed = [annotations(doc) for doc in nlp.pipe(texts, batch_size=4)]
    for text, (tokens, entities, cats) in zip(texts, streamed, strict=True):
        alone = annotations(nlp(text))
        assert (tokens, entities) == alone[:2]
        assert cats == pytest.approx(alone[2], abs=1e-5)


def test_a_stored_pipeline_needs_the_model_folders_no_longer(nlp, models, tmp_path):
    moved = tmp_path / "models"
    shutil.copytree(models, moved)
    own = spacy.blank("en")
    for name in nlp.pipe_names:
        own.add_pipe(name, config={"model": str(moved / name)})
    own.to_disk(tmp_path / "pipeline")
    data = own.to_bytes()
    shutil.rmtree(moved)
    text = "Anna Smith sees the dog"
    assert annotations(spacy.load(tmp_path / "pipeline")(text)) == annotations(nlp(text))
    again = spacy.util.load_model_from_config(own.config).from_bytes(data)
    assert annotations(again(text)) == annotations(nlp(text))
    for name in nlp.pipe_names:
        assert isinstance(elman.load(tmp_path / "pipeline" / name), elman.Task)  # a model folder like others


def test_a_pickled_component_answers_the_same(nlp):
    text = "Anna Smith sees the dog"
    for name, component in nlp.pipeline:
        again = pickle.loads(pickle.dumps(component))
        assert annotations(again(nlp.make_doc(text))) == annotations(nlp.get_pipe(name)(nlp.make_doc(text)))


def test_a_model_of_another_kind_is_refused_when_the_component_is_added(models):
    nlp = spacy.blank("en")
    with pytest.raises(elman.ModelError, match="holds a classifier, not a tagger"):
        nlp.add_pipe("elman_tagger", config={"model": str(models / "elman_textcat")})


@pytest.mark.parametrize(
    ("component", "folder", "said"),
    [
        ("elman_tagger", "elman_ner", "the tags of this model mark spans: elman_ner is the component for it"),
        ("elman_ner", "elman_tagger", "mark no spans: elman_tagger is the component for it"),
        ("elman_ner", "nothing", "there is no such folder"),
    ],
)
def test_a_model_that_cannot_annotate_is_one_sentence(models, component, folder, said):
    nlp = spacy.blank("en")
    nlp.add_pipe(component, config={"model": str(models / folder)})
    with pytest.raises(elman.ModelError, match=said):
        nlp("the dog")


def test_the_entry_points_lead_to_the_components():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, place in project["entry-points"]["spacy_factories"].items():
        module, attribute = place.split(":")
        assert spacy.registry.factories.get(name) is getattr(import_module(module), attribute)
