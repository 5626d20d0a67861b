"""The digests of a model folder: whatever changes an answer is seen before anything is answered."""

import json
import logging
import random
from pathlib import Path

import pytest

from elman import artifact
from elman.config import to_plain
from elman.errors import ModelError
from tests.model_folder import store_model
from tests.tasks.topics import fresh

TEXTS = ["when", "the city of the river"]
FILES = ("config.json", "model.safetensors", "vocab.json", "labels.json", "metrics.json", "run.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config = {"task": "classifier", "data": {}, "model": to_plain(fresh().config)}
    store_model(fresh(), tmp_path / "m", config=config, metrics={"n": 1}, card="# M\n", run={"seed": 1})
    return tmp_path / "m"


def refuse(folder: Path, *said: str) -> None:
    with pytest.raises(ModelError) as caught:
        artifact.load(folder)
    assert all(part in str(caught.value) for part in (str(folder), *said))
    assert "\n" not in str(caught.value)


def edit(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_anywhere_is_seen(folder: Path, name: str) -> None:
    path, dice = folder / name, random.Random(name)
    whole = path.read_bytes()
    for place in {0, len(whole) - 2, *(dice.randrange(len(whole)) for _ in range(20))}:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << dice.randrange(8)
        if name == "config.json" and is_same_json(whole, damaged):
            continue
        path.write_bytes(damaged)
        refuse(folder, name)


def is_same_json(one: bytes, other: bytes) -> bool:
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


@pytest.mark.parametrize("name", ["vocab.json", "labels.json"])
def test_a_permuted_vocabulary_is_refused(folder: Path, name: str) -> None:
    stored = json.loads((folder / name).read_text())
    items = stored if isinstance(stored, list) else stored["tokens"]
    items[-2:] = items[:-3:-1]
    (folder / name).write_text(json.dumps(stored))
    refuse(folder, name, "damaged or was changed", "copy the model folder again")


def test_a_changed_setting_is_refused(folder: Path) -> None:
    edit(folder / "config.json", data={"encoding": "latin-1"})
    refuse(folder, "config.json was changed after it was written")


def test_blanks_and_the_order_of_keys_may_change(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(dict(reversed(config.items()))))
    artifact.load(folder)


def test_the_card_may_be_edited_with_any_encoding(folder: Path) -> None:
    (folder / "README.md").write_bytes("# Mein Modell für alle\n".encode("latin-1"))
    assert "Mein Modell" in artifact.load(folder).record.card


@pytest.mark.parametrize("name", ["metrics.json", "run.json", "README.md"])
def test_records_may_be_left_out(folder: Path, name: str) -> None:
    (folder / name).unlink()
    artifact.load(folder)


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.json", "labels.json"])
def test_what_answers_need_may_not(folder: Path, name: str) -> None:
    (folder / name).unlink()
    refuse(folder, f"{name} is missing")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that is there and cannot be read")
def test_a_file_that_cannot_be_read_is_named(folder: Path) -> None:
    (folder / "vocab.json").unlink()
    (folder / "vocab.json").symlink_to("/proc/self/mem")
    refuse(folder, "vocab.json: cannot be read (Input/output error)")


def test_a_file_that_was_put_in_is_refused(folder: Path) -> None:
    (folder / "decision.json").write_text('{"kind": "softmax", "temperature": 9.0}')
    refuse(folder, "decision.json is not of this model")


@pytest.mark.parametrize("value", [None, 7, [], "x", {}, {"../x": "0"}, {"config.json": []}])
def test_a_table_of_digests_that_is_none_is_refused(folder: Path, value: object) -> None:
    edit(folder / "config.json", sha256=value)
    refuse(folder, "config.json")


def test_without_digests_a_folder_loads_and_says_so(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    config = json.loads((folder / "config.json").read_text())
    del config["sha256"]
    (folder / "config.json").write_text(json.dumps(config))
    with caplog.at_level(logging.WARNING, "elman"):
        artifact.load(folder)
    assert [record.message for record in caplog.records] == [
        f"{folder}: config.json has no digests, so damage to its files would go unseen"
    ]


def test_a_loaded_model_is_saved_with_digests_of_its_own(folder: Path, tmp_path: Path) -> None:
    model = artifact.load(folder)
    artifact.save_model(model, tmp_path / "again")
    stored = [json.loads((f / "config.json").read_text()) for f in (folder, tmp_path / "again")]
    assert stored[0] == stored[1]
    assert model.record.config.keys() == {"task", "data", "model"}
    assert artifact.load(tmp_path / "again").classify(TEXTS) == model.classify(TEXTS)
