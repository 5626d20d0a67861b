"""The components by the names that spaCy knows them by; pyproject.toml lists them as entry points."""

# Annotations are not strings here: spaCy reads the types of a configuration from them.

from spacy.language import Language

from elman.spacy.ner import NERComponent
from elman.spacy.pos import TaggerComponent
from elman.spacy.textcat import TextcatComponent

DEFAULTS = {"device": "cpu"}


def make_tagger(nlp: Language, name: str, model: str, device: str) -> TaggerComponent:
    """``nlp.add_pipe("elman_tagger", config={"model": DIR})``."""
    return TaggerComponent(model, device)


def make_ner(nlp: Language, name: str, model: str, device: str) -> NERComponent:
    """``nlp.add_pipe("elman_ner", config={"model": DIR})``."""
    return NERComponent(model, device)


def make_textcat(nlp: Language, name: str, model: str, device: str) -> TextcatComponent:
    """``nlp.add_pipe("elman_textcat", config={"model": DIR})``."""
    return TextcatComponent(model, device)


Language.factory("elman_tagger", assigns=["token.tag", "token.pos"], default_config=DEFAULTS, func=make_tagger)
for function, assigned in (
    (make_tagger, ["token.tag", "token.pos"]),
    (make_ner, ["doc.ents", "token.ent_iob", "token.ent_type"]),
    (make_textcat, ["doc.cats"]),
):
    known_as = function.__name__.replace("make", "elman")
    Language.factory(known_as, assigns=assigned, default_config=DEFAULTS, func=function)
