"""The files of a model folder."""

from elman.files.model_files import remove_files


def test_those_files_are_taken_away_that_are_there(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).touch()
    remove_files(tmp_path, ["a", "absent"])
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
