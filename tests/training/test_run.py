from __future__ import annotations

import io
import json
import os
import signal
from collections.abc import Generator
from itertools import islice
from math import nan
from pathlib import Path

import pytest
from toy import Net, Problem, same

from elman.errors import ModelError
from elman.model_files import CHECKPOINT, METRICS_LOG
from elman.training.display import BarDisplay, LineDisplay, Pace, make_display
from elman.training.events import Checkpoint, Evaluation, Event, TrainingEnd, Update
from elman.training.metrics_log import MetricsLog
from elman.training.run import find_resume_point, follow, stop_signals
from elman.training.training_config import TrainingConfig

SETTINGS = TrainingConfig(epochs=3, ema_decay=0.9)


def interrupted(
    events: Generator[Event, None, None], at: int, how: signal.Signals
) -> Generator[Event, None, None]:
    """The same events; a signal comes while an update is shown."""
    for event in events:
        if isinstance(event, Update) and event.number == at:
            os.kill(os.getpid(), how)
        yield event


def rows(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / METRICS_LOG).read_text().splitlines()]


def test_a_run_leaves_a_checkpoint_and_a_line_for_all_that_happened(tmp_path: Path) -> None:
    problem = Problem(Net())
    end = follow(problem.fit(SETTINGS), tmp_path / "a" / "b", {})
    assert isinstance(end, TrainingEnd)
    lines = rows(tmp_path / "a" / "b")
    assert [line["update"] for line in lines if "loss" in line] == list(range(1, 19))
    assert [line["update"] for line in lines if "scores" in line] == [6, 12, 18]
    assert sorted(os.listdir(tmp_path / "a" / "b")) == [CHECKPOINT, METRICS_LOG]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_and_stops_and_the_rest_can_be_run_later(
    tmp_path: Path, how: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, first, second = (Problem(Net()) for _ in range(3))
    assert follow(whole.fit(SETTINGS), tmp_path / "whole", {})
    handler = signal.getsignal(how)
    assert follow(interrupted(first.fit(SETTINGS), 8, how), tmp_path / "parts", {"a": 1}) is None
    assert signal.getsignal(how) is handler
    out, err = capsys.readouterr()
    assert out == ""
    assert "stopped after update 8; it can be resumed" in err
    resume = find_resume_point(tmp_path / "parts", {"a": 1}, asked=True)
    end = follow(second.fit(SETTINGS, resume=resume), tmp_path / "parts", {"a": 1})
    assert end is not None
    assert same(second.net, whole.net)
    assert rows(tmp_path / "parts") == rows(tmp_path / "whole")


def test_a_second_signal_interrupts_at_once() -> None:
    # Whoever started the test run may have told it to ignore Ctrl-C, as a shell does in the background.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        _interrupt_twice()
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt_twice() -> None:
    with stop_signals() as asked:
        os.kill(os.getpid(), signal.SIGINT)
        assert asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_log_with_lines_after_the_checkpoint_ends_like_the_uninterrupted_one(tmp_path: Path) -> None:
    """As a killed run leaves it: more lines than the checkpoint knows, the last of them torn."""
    whole, first, second = (Problem(Net()) for _ in range(3))
    follow(whole.fit(SETTINGS), tmp_path / "whole", {})
    follow(first.fit(SETTINGS), tmp_path / "parts", {})
    for event in (events := Problem(Net()).fit(SETTINGS)):
        if isinstance(event, Checkpoint) and event.number == 7:
            snapshot = event.snapshot()
            events.close()
    with open(tmp_path / "parts" / METRICS_LOG, "ab") as file:
        file.write(b'{"update": 3, "lo')
    follow(second.fit(SETTINGS, resume=snapshot), tmp_path / "parts", {})
    assert (tmp_path / "parts" / METRICS_LOG).read_bytes() == (tmp_path / "whole" / METRICS_LOG).read_bytes()


def test_a_new_run_forgets_the_old_one(tmp_path: Path) -> None:
    follow(Problem(Net()).fit(SETTINGS), tmp_path, {})
    lost = (event for event in islice(Problem(Net()).fit(SETTINGS), 4))
    assert follow(lost, tmp_path, {}) is None
    assert not (tmp_path / CHECKPOINT).exists()
    assert [row["update"] for row in rows(tmp_path)] == [1, 2]


def test_a_run_resumed_at_its_end_ends_again(tmp_path: Path) -> None:
    first, second = Problem(Net()), Problem(Net())
    end = follow(first.fit(SETTINGS), tmp_path, {})
    before = rows(tmp_path)
    resume = find_resume_point(tmp_path, {}, asked=True)
    assert follow(second.fit(SETTINGS, resume=resume), tmp_path, {}) == end
    assert same(second.net, first.net)
    assert rows(tmp_path) == before


def test_numbers_that_are_not_finite_are_valid_json(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / METRICS_LOG)
    log.show(Update(1, 1, 0.5, nan, 0.1, nan, 1))
    log.show(Evaluation(1, {"a": nan}, "a", False))
    log.close()
    assert rows(tmp_path) == [
        {"update": 1, "epoch": 1, "loss": None, "lr": 0.1, "norm": None},
        {"update": 1, "scores": {"a": None}, "best": False},
    ]


def test_resuming_nothing_is_refused_but_restarting_nothing_is_a_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match="there is no checkpoint to resume from"):
        find_resume_point(tmp_path, {}, asked=True)
    monkeypatch.setenv("TORCHELASTIC_RESTART_COUNT", "1")
    assert find_resume_point(tmp_path, {}, asked=False) is None
    follow(Problem(Net()).fit(SETTINGS), tmp_path, {})
    assert find_resume_point(tmp_path, {}, asked=False) is not None
    monkeypatch.delenv("TORCHELASTIC_RESTART_COUNT")
    assert find_resume_point(tmp_path, {}, asked=False) is None


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_and_a_file_gets_lines() -> None:
    pytest.importorskip("rich")
    for stream, kind in ((Terminal(), BarDisplay), (io.StringIO(), LineDisplay)):
        shown = make_display("tokens", stream)
        assert isinstance(shown, kind)
        for event in Problem(Net()).fit(TrainingConfig(epochs=2)):
            shown.show(event)
        shown.close()
        assert "all epochs done after update 12; best: error" in stream.getvalue()
        assert stream.getvalue().count("update 6  error") == 1


def test_a_terminal_without_rich_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rich.console", "rich.progress"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    assert isinstance(make_display("tokens", Terminal()), LineDisplay)


def test_pace_tells_the_speed_of_training_and_the_time_left() -> None:
    times = iter(range(100))
    pace = Pace(lambda: float(next(times)))
    for number in range(1, 5):
        pace.see(Update(number, 1, number / 10, 1.0, 0.1, 1.0, 30.0))
    assert pace.speed == 30
    assert pace.left == pytest.approx(6)
    pace.see(Evaluation(4, {"a": 1.0}, "a", True))
    assert pace.speed == 0
    for number in range(5, 7):
        pace.see(Update(number, 1, number / 10, 1.0, 0.1, 1.0, 50.0))
    assert pace.speed == 50
    assert pace.left == pytest.approx(6 / 5 * 4)


def test_lines_tell_of_updates_now_and_then() -> None:
    stream = io.StringIO()
    lines = LineDisplay("tokens", stream, every=0.0)
    for event in Problem(Net()).fit(TrainingConfig(epochs=1)):
        lines.show(event)
    text = stream.getvalue().splitlines()
    assert len(text) == 6 + 1 + 1
    assert "tokens/s" in text[4]
