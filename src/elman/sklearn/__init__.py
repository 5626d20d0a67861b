"""Elman's models as estimators of scikit-learn: in pipelines, cross-validation and grid search."""

try:
    from elman.sklearn.sequence_tagger import Tagger
    from elman.sklearn.text_classifier import Classifier
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "sklearn":
        raise
    raise ImportError('elman.sklearn needs scikit-learn: pip install "elman[sklearn]"') from None

__all__ = ["Classifier", "Tagger"]
