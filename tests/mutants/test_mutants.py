"""The mutants themselves: each operator makes what it says, and nothing that only people read is touched."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.mutants.coverage_map import CoverageMap, MapFile, TestTime
from tests.mutants.fork import call_in_fork
from tests.mutants.line_recorder import line_recorder
from tests.mutants.mutant import Mutant, mutants
from tests.mutants.pytest_run import Chosen, first_failure
from tests.mutants.results import ResultFile, read_equivalent, summarize
from tests.mutants.rooms import room_of, sample
from tests.mutants.trial import Worker, batches, failing_unchanged, find_killer, written
from tests.mutants.whole_files import WholeFiles

ROOT = Path(__file__).parents[2]


def variants(tmp_path: Path, code: str) -> set[str]:
    """The mutants of a program as whole sources, without brackets: a changed expression gets some."""
    path = tmp_path / "code.py"
    path.write_text(code)
    source = path.read_bytes()
    changed = [mutant.apply(source).decode() for mutant in mutants(tmp_path, path)]
    return {one.replace("(", "").replace(")", "") for one in changed}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a < b", {"a <= b", "pass"}),
        ("a not in b", {"a in b", "pass"}),
        ("a + b", {"a - b", "a", "b", "pass"}),
        ("not a", {"a", "pass"}),
        ("a and b", {"a or b", "a", "b", "pass"}),
        ("x = 3", {"x = 4", "x = 2"}),
        ("x = True", {"x = False"}),
        ("x = min(a, key=b)", {"x = mina", "x = maxa, key=b"}),
        ("x = a.any()", {"x = a.all"}),
        ("x = a[i:]", {"x = a[i + 1:]", "x = a[i:-1]"}),
        ("x += a", {"x -= a", "pass"}),
        ("if a:\n    pass", {"if not a:\n    pass"}),
        ("x = a if b else c", {"x = a if not b else c"}),
        ("x = [a for a in b if a]", {"x = [a for a in b if not a]", "x = [a for a in b]"}),
        ("while a:\n    break", {"while not a:\n    break", "while a:\n    continue"}),
        ("def f():\n    return a", {"def f:\n    return"}),
        ("raise Oops('7' + '8')", {"pass"}),
        ("'ä'\nx = 'ä' + b", {"'ä'\nx = 'ä' - b", "'ä'\nx = 'ä'", "'ä'\nx = b"}),
    ],
)
def test_an_operator_changes_one_thing(tmp_path, code, expected):
    assert {" ".join(one.split()) for one in variants(tmp_path, code)} == {
        " ".join(one.split()) for one in expected
    }


@pytest.mark.parametrize(
    "code",
    [
        "import a",
        "'a sentence'",
        "__all__ = ['a'] + b",
        "__all__ += ['a']",
        "def f(a: 1 = 2) -> 3: ...",
        "class A:\n    size: int = 3",
        "x = f'{a + b}'",
        "assert a < b",
        "x = cast(1, a)",
        "if TYPE_CHECKING:\n    x = 3",
        "@overload\ndef f():\n    return 3",
        "@dataclass(frozen=True)\nclass A: ...",
        "Number = int | float | list[int]",
        "x = zip(a, b, strict=True)",
    ],
)
def test_what_only_people_and_type_checkers_read_stays(tmp_path, code):
    assert variants(tmp_path, code) == set()


def test_a_key_names_a_mutant_whatever_stands_above_it(tmp_path):
    path = tmp_path / "code.py"
    path.write_text("def f(a):\n    return a + a, a + a\n")
    before = [m.key for m in mutants(tmp_path, path)]
    path.write_text("import b\n\n\ndef f(a):\n    return a + a, a + a\n")
    assert [m.key for m in mutants(tmp_path, path)] == before
    assert len(set(before)) == len(before)


def test_every_mutant_of_a_sample_is_a_program_and_every_core_room_has_its_share():
    chosen = sample(ROOT, 0, {True: 8, False: 4}, [])
    rooms = [room_of(m.path) for m in chosen]
    assert {room: rooms.count(room) for room in ("scan", "layers/crf", "layers", "text")} == {
        "scan": 8,
        "layers/crf": 8,
        "layers": 4,
        "text": 4,
    }
    for mutant in chosen:
        source = (ROOT / mutant.path).read_bytes()
        compile(mutant.apply(source), mutant.path, "exec")


def test_what_is_called_equivalent_still_stands_in_the_source():
    files = {key.split(" ")[0] for key in read_equivalent()}
    assert read_equivalent().keys() <= {m.key for file in files for m in mutants(ROOT, ROOT / file)}
    assert all(reason.strip() for reason in read_equivalent().values())


HERE = Mutant("src/elman/metrics/bleu.py", 7, 7, 0, 1, "a", "key")


def test_tests_of_the_line_come_first_and_the_fastest_of_them_before_all():
    coverage, other = CoverageMap(), "src/elman/metrics/chrf.py"
    for name, seconds, lines in [
        ("slow", 3.0, {HERE.path: [7]}),
        ("fast", 1.0, {HERE.path: [6, 7]}),
        ("mostly_elsewhere", 0.5, {HERE.path: [7], other: [1, 2, 3]}),
        ("same_file", 0.1, {HERE.path: [8]}),
        ("other_file", 0.0, {other: [7]}),
        ("endless", 99.0, {HERE.path: [7]}),
    ]:
        coverage.add(f"tests/metrics/a.py::{name}", seconds, lines)
    coverage.add("tests/cli/b.py::changed", 0.2, {HERE.path: [7]}, {HERE.path})

    def names(patience):
        return [test.name.split("::")[1] for test in coverage.tests_of(HERE, patience)]

    assert names(30) == ["fast", "mostly_elsewhere", "slow", "same_file", "changed"]
    assert names(1.2) == ["fast", "same_file"]
    assert [len(batch) for batch in batches(coverage.tests_of(HERE, patience=30))] == [2, 3]


def test_a_record_forgets_the_lines_of_a_file_that_has_changed_and_is_stale_when_its_tests_have(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    source, test = tmp_path / "src" / "a.py", tmp_path / "tests" / "test_a.py"
    source.write_text("a = 1\n")
    test.write_text("")
    first = MapFile(tmp_path / "map", tmp_path)
    assert first.stale() == ["tests/test_a.py"]
    first.add("tests/test_a.py", {"tests/test_a.py::one": {"seconds": 1.0, "lines": {"src/a.py": [1]}}})
    first.write()
    same = MapFile(tmp_path / "map", tmp_path)
    assert same.stale() == []
    assert len(same.load().by_line["src/a.py", 1]) == 1
    assert not same.load(("tests/other/",)).by_line
    source.write_text("\na = 1\n")
    moved = MapFile(tmp_path / "map", tmp_path).load()
    assert (len(moved.by_line["src/a.py", 1]), len(moved.by_file["src/a.py"])) == (0, 1)
    test.write_text("# other\n")
    changed = MapFile(tmp_path / "map", tmp_path)
    assert changed.stale() == ["tests/test_a.py"]
    assert not changed.load().by_file["src/a.py"]  # it imports nothing any more


def test_a_test_file_that_was_not_recorded_stands_for_what_it_imports(tmp_path):
    for name, code in {
        "src/elman/a/__init__.py": "from elman.a.b import f",
        "src/elman/a/b.py": "",
        "src/elman/a/c.py": "",
        "src/elman/d.py": "",
        "tests/a/test_a.py": "from elman.a import f, c\n\ndef test_d():\n    from elman.d import g",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)
    coverage = MapFile(tmp_path / "map", tmp_path).load()
    for name in ("a/b", "a/c", "d"):
        mutant = HERE._replace(path=f"src/elman/{name}.py")
        assert [test.name for test in coverage.tests_of(mutant, 30)] == ["tests/a/test_a.py"]
    assert not coverage.tests_of(HERE._replace(path="src/elman/e/f.py"), 30)


def test_of_a_file_all_tests_are_taken_of_a_name_that_one():
    names = ["b.py::two", "a.py", "b.py::one"]
    items = [
        SimpleNamespace(nodeid=name) for name in ("a.py::x", "a.py::y", "b.py::one", "b.py::two", "c.py::z")
    ]
    Chosen(names).pytest_collection_modifyitems(items)
    assert [item.nodeid for item in items] == ["b.py::two", "a.py::x", "a.py::y", "b.py::one"]


def test_a_tree_is_as_before_once_a_mutant_was_written_to_it(tmp_path):
    path = tmp_path / "code.py"
    path.write_text("a < b\n")
    before = path.stat().st_mtime_ns
    (mutant, *_) = mutants(tmp_path, path)
    with written(tmp_path, mutant):
        assert path.read_text() != "a < b\n"
        assert path.stat().st_mtime_ns // 10**9 != before // 10**9  # or compiled code of the same size is taken
    assert (path.read_text(), path.stat().st_mtime_ns) == ("a < b\n", before)


def test_the_report_counts_by_room_and_lists_survivors():
    def answer(name, killed):
        key = f"src/elman/{name} f: a -> b"
        return {"key": key, "place": f"src/elman/{name}:3", "killed": killed, "tests": 5}

    lines = summarize([answer("scan/x.py", True), answer("scan/y.py", False), answer("text/z.py", True)])
    assert lines[1].split() == ["scan", "2", "1", "50.0%", "95", "%", "missed"]
    assert lines[2].split() == ["text", "1", "1", "100.0%", "90", "%"]
    assert lines[-1] == "src/elman/scan/y.py:3 f: a -> b (5 tests)"


def test_an_answer_that_is_taken_back_is_none_in_a_later_run_either(tmp_path):
    results = ResultFile(tmp_path / "results")
    results.add({"key": "one", "killed": True, "tree": "t"})
    results.add({"key": "two", "killed": True, "tree": "t"})
    results.take_back("one")
    for known in (results, ResultFile(tmp_path / "results")):
        assert (known.is_settled("one", "t"), known.is_settled("two", "t")) == (False, True)


def test_tests_that_fail_without_any_change_are_found_each(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "tests" / "mutants", tmp_path / "tests" / "mutants")
    outcomes = {"a": True, "b": False, "c": True, "d": False}
    lines = [f"def test_{name}():\n    assert {passes}\n" for name, passes in outcomes.items()]
    (tmp_path / "test_some.py").write_text("\n".join(lines))
    monkeypatch.setattr(Worker, "tree", tmp_path, raising=False)
    names = {f"test_some.py::test_{name}" for name in outcomes}
    assert failing_unchanged(names) == {"test_some.py::test_b", "test_some.py::test_d"}


def test_a_file_that_is_skipped_has_noticed_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_skipped.py").write_text("import pytest\npytest.importorskip('no_such_package')\n")
    (tmp_path / "test_failing.py").write_text("def test_it():\n    assert False\n")
    assert call_in_fork(tmp_path, lambda: first_failure(["test_skipped.py"]), 60) == ""
    assert call_in_fork(tmp_path, lambda: first_failure(["test_failing.py"]), 60) == "test_failing.py::test_it"


def test_without_records_the_likeliest_test_files_are_taken_first(tmp_path):
    package, tests = tmp_path / "src" / "elman" / "text", tmp_path / "tests" / "text"
    for folder in (package, tests):
        folder.mkdir(parents=True)
    (package / "spans.py").write_text("def find_spans(x):\n    return x + 1\n")
    texts = {
        "far": "",
        "beside": "from elman.text.spans import other\n",
        "naming": "from elman.text.spans import find_spans\n",
        "spans": "from elman.text.spans import find_spans\n",
    }
    for name, text in texts.items():
        (tests / f"test_{name}.py").write_text(text)
    mutant = next(mutants(tmp_path, package / "spans.py"))
    known = WholeFiles(tmp_path, sorted(f"tests/text/test_{name}.py" for name in texts), 3)
    names = [test.name for test in known.tests_of(mutant, 30)]
    assert names == [f"tests/text/test_{name}.py" for name in ("spans", "naming", "beside")]


def test_out_of_time_is_no_failure(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_failing.py").write_text("def test_it():\n    assert False\n")
    assert call_in_fork(tmp_path, lambda: first_failure(["test_failing.py"], seconds=0), 60) == ""


def test_what_only_checked_shapes_notice_is_noticed(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "tests" / "mutants", tmp_path / "tests" / "mutants")
    source = "import os\n\ndef test_it():\n    assert 'ELMAN_UNCHECKED' in os.environ\n"
    (tmp_path / "test_some.py").write_text(source)
    monkeypatch.setattr(Worker, "tree", tmp_path, raising=False)
    monkeypatch.setattr(Worker, "patience", 30.0, raising=False)
    assert find_killer([TestTime("test_some.py::test_it", 0.1)]) == "test_some.py::test_it"
    (tmp_path / "test_some.py").write_text("def test_it():\n    pass\n")
    assert find_killer([TestTime("test_some.py::test_it", 0.1)]) == ""


def test_lines_that_ran_are_recorded_anew_in_each_test(tmp_path):
    source = (
        "def sign(x):\n    if x < 0:\n        return -1\n    return 1\n\n\ndef twice(x):\n    return 2 * x\n"
    )
    path, elsewhere = tmp_path / "in" / "code.py", tmp_path / "out" / "code.py"
    functions = []
    for file in (path, elsewhere):
        names: dict = {}
        exec(compile(source, str(file), "exec"), names)
        functions.append(names)
    recorder = line_recorder(str(path.parent))
    seen = []
    for numbers in ([1], [1, 1, -1], [-1, -1]):
        recorder.start()
        for x in numbers:
            for names in functions:
                names["twice"](names["sign"](x))
        lines = recorder.stop()
        assert {file for file, _ in lines} == {str(path)}
        seen.append({line for _, line in lines} - {1, 7})  # whether a def counts as run differs
    assert seen == [{2, 4, 8}, {2, 3, 4, 8}, {2, 3, 8}]
