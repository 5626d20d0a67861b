"""A model as the files of its folder in memory."""

import pytest

from elman.artifact.model_bytes import model_from_files, model_to_files
from elman.errors import ModelError
from elman.tasks.classifier.task import Classifier
from tests.tasks.topics import examples, fresh


def test_a_model_made_of_its_files_answers_as_before():
    model, texts = fresh(), [e.text for e in examples(5)]
    again = model_from_files(model_to_files(model), Classifier)
    assert again.classify(texts) == model.classify(texts)


def test_a_name_that_leads_out_of_the_folder_is_refused():
    with pytest.raises(ModelError, match=r"'\.\./config\.json' is no file of a model folder"):
        model_from_files({"../config.json": b"{}"}, Classifier)
