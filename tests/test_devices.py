"""A device that is not there is one sentence, before anything is read or trained."""

import pytest
import torch

import elman
from elman.errors import ConfigError

NO_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
BAD = [
    pytest.param("cuda", "PyTorch finds no GPU here; say device='cpu'", marks=NO_GPU),
    ("cuda:99", "device 'cuda:99': PyTorch finds"),
    ("gpu", "unknown device 'gpu'; it may be 'auto', 'cpu', 'cuda' or 'cuda:1'"),
    ("", "unknown device ''"),
    ("meta", "the device 'meta' computes nothing"),
]


@pytest.mark.parametrize(("device", "message"), BAD)
def test_loading_refuses_it(device, message, tmp_path):
    with pytest.raises(ConfigError, match=message):
        elman.load(tmp_path, device=device)


@pytest.mark.parametrize(("device", "message"), BAD)
def test_training_refuses_it(device, message):
    with pytest.raises(ConfigError, match=message):
        elman.Classifier.train([("good", "a"), ("bad", "b")] * 4, device=device)
