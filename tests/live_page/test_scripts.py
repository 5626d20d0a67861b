"""The scripts of the page, which are joined into one."""

import re
from collections import defaultdict

from elman.live_page.operation_script import print_operations
from tests.live_page.runtime import SCRIPTS

NAMES = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) (\w+|\[[^]]*\])", re.MULTILINE)


def test_a_name_at_the_top_of_a_script_is_there_once_in_all_of_them():
    sources = {path.name: path.read_text("utf-8") for path in SCRIPTS.glob("*.js")}
    where = defaultdict(set)
    for file, source in {**sources, "operations.js": print_operations()}.items():
        for declared in NAMES.findall(source):
            for name in re.findall(r"\w+", declared):
                where[name].add(file)
    assert not {name: files for name, files in where.items() if len(files) > 1}


def test_no_script_evaluates_text_or_asks_the_network():
    for path in SCRIPTS.glob("*.js"):
        source = path.read_text("utf-8")
        for word in ("eval(", "new Function", "fetch(", "XMLHttpRequest", "innerHTML", "WebSocket"):
            assert word not in source, f"{path.name} uses {word}"
