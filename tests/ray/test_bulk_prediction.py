"""On a real Ray with two workers, of which one is killed, the answers are those of one process."""

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import elman

pytestmark = pytest.mark.skipif(
    find_spec("ray") is None, reason='ray is not installed: pip install "elman[ray]"'
)
SCRIPT = Path(__file__).with_name("bulk_run.py")
TOPICS = {"time": "when was the {} war", "place": "where was the {} war", "people": "who won the {} war"}
LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0", "OMP_NUM_THREADS": "1"}


def run(folder: Path) -> None:
    """The script in a session of its own, so that nothing of it is left behind."""
    process = subprocess.Popen([sys.executable, SCRIPT, folder], env=os.environ | LOCAL, start_new_session=True)
    try:
        assert process.wait(timeout=120) == 0
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_a_killed_worker_costs_no_row_and_changes_none(tmp_path):
    rows = [(text.format(i), label) for i in range(10) for label, text in TOPICS.items()]
    model = elman.Classifier.train(rows, hidden=8, epochs=3, out=tmp_path / "model")
    names = [f"row {i}" if i != 40 else "victim" for i in range(80)]
    texts = [rows[i % len(rows)][0] for i in range(80)]
    given = [{"id": name, "body": text} for name, text in zip(names, texts, strict=True)]
    (tmp_path / "texts.json").write_text(json.dumps(given))
    run(tmp_path)
    assert (tmp_path / "killed").exists()
    rows = json.loads((tmp_path / "answers.json").read_text())
    answers = {row["id"]: row for row in rows}
    assert len(rows) == len(names)
    assert set(answers) == set(names)
    for name, text, expected in zip(names, texts, model.classify(texts), strict=True):
        label, confidence = expected.label, pytest.approx(expected.confidence, abs=1e-4)
        assert answers[name] == {"id": name, "body": text, "label": label, "confidence": confidence}
