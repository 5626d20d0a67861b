"""The page's scripts run by node: what they answer, as JSON."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from elman.live_page import page_file
from elman.live_page.join_scripts import join_scripts
from elman.tasks.base import Task

SCRIPTS = Path(page_file.__file__).parent
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


def run_script(folder: Path, entry: str, printed: dict[str, str], data: Any, code: str) -> Any:
    """What ``code`` gives to ``answer(…)`` after the modules, where ``data`` is what JSON can hold."""
    (folder / "data.json").write_text(json.dumps(data))
    head = 'import fs from "node:fs";\nconst data = JSON.parse(fs.readFileSync(process.argv[2]));\n'
    head += "const answer = (found) => console.log(JSON.stringify(found, (_, v) => "
    head += "ArrayBuffer.isView(v) ? Array.from(v) : v));\n"
    script = folder / "script.mjs"
    script.write_text(f"{head}{join_scripts(SCRIPTS, entry, printed)}\n{code}")
    command = ["node", str(script), str(folder / "data.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def run_model(folder: Path, task: Task, code: str, *, half: bool = False) -> Any:
    """The same with ``engine``, which runs a model."""
    data, printed = page_file.describe_model(task, half=half)
    return run_script(folder, "engine.js", printed, data, f"const engine = await openModel(data);\n{code}")
