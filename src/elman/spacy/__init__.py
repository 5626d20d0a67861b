"""Trained models as components of a spaCy pipeline: ``nlp.add_pipe("elman_tagger", config={"model": DIR})``.

With Elman installed, spaCy finds the components by itself; elsewhere ``import elman.spacy`` tells it of them.
"""

try:
    import elman.spacy.factories  # noqa: F401  tells spaCy of the components
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "spacy":
        raise
    raise ImportError('elman.spacy needs spaCy: pip install "elman[spacy]"') from None
