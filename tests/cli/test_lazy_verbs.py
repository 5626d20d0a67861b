"""One verb does not import the others."""

import subprocess
import sys

from elman.cli.app import elman


def test_a_verb_is_imported_when_it_is_asked_for():
    code = (
        "import sys\n"
        "from elman.cli.app import elman\n"
        "assert 'elman.cli.complete' not in sys.modules\n"
        "elman(['complete', '--help'], standalone_mode=False)\n"
        "assert 'elman.cli.complete' in sys.modules\n"
        "assert not {'elman.cli.train', 'elman.cli.predict', 'torch'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_verb_is_where_it_is_said_to_be():
    for name, command in elman.commands.items():
        assert command.name == name
