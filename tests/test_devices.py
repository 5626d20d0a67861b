"""A device that is not there is one sentence, before anything is read or trained."""

import pytest
import torch

import elman
from elman.devices import choose_device, describe_choice, find_device
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


def test_a_device_is_found_by_its_name_and_auto_is_the_best_there_is():
    assert find_device("cpu") == torch.device("cpu") == find_device(torch.device("cpu"))
    assert choose_device("cuda:1") == "cuda:1"
    assert choose_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    assert describe_choice("cpu") == ""


@pytest.mark.parametrize(("count", "said"), [(1, "1 GPU"), (2, "2 GPUs")])
def test_how_many_gpus_there_are_is_said(count, said, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    with pytest.raises(ConfigError, match=rf"device 'cuda:99': PyTorch finds {said} here; say device='cpu'"):
        find_device("cuda:99")
