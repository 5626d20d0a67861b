"""A few of the kills of the campaign."""

import subprocess
import sys
from pathlib import Path

from tests.campaign import kills_of_tools


def test_runs_that_are_killed_end_like_one_that_was_not():
    command = [sys.executable, "-m", "tests.campaign.kills", "--count=3", "--jobs=1", "--only=classifier"]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kills, _, rest = done.stdout.partition(" ")
    assert int(kills) >= 3
    assert ": 0 findings in" in rest


def test_builds_that_are_killed_leave_a_whole_library_or_none():
    assert kills_of_tools.main(["--builds=2", "--searches=0", "--jobs=1"]) == 0
