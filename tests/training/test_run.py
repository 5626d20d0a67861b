from __future__ import annotations

import io
import json
import os
import resource
import signal
from collections.abc import Callable, Generator
from dataclasses import replace
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import pytest
from toy import Net, Problem, same

from elman.errors import ModelError
from elman.files.model_files import CHECKPOINT, METRICS_LOG
from elman.interruption import defer_signals
from elman.training.display import BarDisplay, LineDisplay, make_display
from elman.training.events import Checkpoint, Evaluation, Event, TrainingEnd, Update
from elman.training.metrics_log import MetricsLog
from elman.training.pace import Pace
from elman.training.run import find_resume_point, follow
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


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
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
    assert resume
    assert resume.state["progress"]["update"] == 8, "nothing that was done is lost"
    end = follow(second.fit(SETTINGS, resume=resume), tmp_path / "parts", {"a": 1})
    assert end is not None
    assert same(second.net, whole.net)
    assert rows(tmp_path / "parts") == rows(tmp_path / "whole")


@pytest.mark.parametrize(("work", "call", "after"), [("scores", 2, 12), ("scores", 3, 18), ("loss", 9, 8)])
def test_a_signal_does_not_wait_for_an_update_or_an_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str, call: int, after: int
) -> None:
    """What was torn is done again: the run ends as if there had been no signal, and so does its log."""
    whole, first, second = (Problem(Net()) for _ in range(3))
    follow(whole.fit(SETTINGS), tmp_path / "whole", {})
    ended, done = [], getattr(first, work)

    def kill(*arguments: Any) -> Any:
        result = done(*arguments)
        if len(ended) == call - 1:
            os.kill(os.getpid(), signal.SIGTERM)
        ended.append(call)
        return result

    monkeypatch.setattr(first, work, kill)
    first.validation = replace(first.validation, scores=first.scores)
    assert follow(first.fit(SETTINGS), tmp_path / "parts", {}) is None
    assert len(ended) == call - 1  # the signal raised at once
    with open(tmp_path / "parts" / METRICS_LOG, "a") as file:  # as if resumed, and killed after what was torn
        file.write(json.dumps({"update": after + (work == "loss"), "scores": {}, "best": True}) + "\n")
    resume = find_resume_point(tmp_path / "parts", {}, asked=True)
    assert resume
    assert resume.state["progress"]["update"] == after
    follow(second.fit(SETTINGS, resume=resume), tmp_path / "parts", {})
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
    with defer_signals() as asked:
        os.kill(os.getpid(), signal.SIGINT)
        assert asked
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize("full", [CHECKPOINT, METRICS_LOG])
def test_a_disk_that_is_full_names_the_file_and_ends_with_the_best_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: str
) -> None:
    problem, good, before = Problem(Net()), Problem(Net()), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_disk(event: Event) -> Event:
        """After the second evaluation a file can be no larger than this: the log, or none."""
        if isinstance(event, Evaluation) and event.number == 12:
            log = (tmp_path / METRICS_LOG).stat().st_size
            resource.setrlimit(resource.RLIMIT_FSIZE, (2000 if full == CHECKPOINT else log, hard))
        return event

    try:
        end = follow(map_events(problem.fit(SETTINGS), fill_disk), tmp_path, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert end is not None
    assert end.failure.startswith(f"{tmp_path / full} cannot be written: File too large; the last")
    assert "checkpoint is of update 6: --resume" in end.failure
    evaluations = [event for event in good.fit(SETTINGS) if isinstance(event, Evaluation)]
    assert end.scores == evaluations[1].scores
    assert sorted(os.listdir(tmp_path)) == [CHECKPOINT, METRICS_LOG]
    resume = find_resume_point(tmp_path, {}, asked=True)
    assert resume
    assert follow(Problem(Net()).fit(SETTINGS, resume=resume), tmp_path, {})


def map_events(
    events: Generator[Event, None, None], see: Callable[[Event], Event]
) -> Generator[Event, None, None]:
    """The same events, each seen first; what is thrown at it reaches them."""
    event = next(events, None)
    while event is not None:
        try:
            yield see(event)
        except ModelError as error:
            event = events.throw(error)
        else:
            event = next(events, None)


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


@pytest.mark.parametrize("first", range(6))
def test_a_log_is_gone_on_with_from_any_event_as_if_nothing_had_come_after_it(
    tmp_path: Path, first: int
) -> None:
    updates = [Update(number, 1, 0.5, 1.0, 0.1, 1.0, 1) for number in (1, 2, 3)]
    judged = [Evaluation(number, {"a": 1.0}, "a", True) for number in (1, 2)]
    events = [updates[0], judged[0], updates[1], judged[1], updates[2], TrainingEnd(3, "epochs", {"a": 1.0})]
    for part in (events, events[first:]):
        log = MetricsLog(tmp_path / METRICS_LOG)
        for event in part:
            log.show(event)
        log.close()
    assert [(row["update"], "scores" in row) for row in rows(tmp_path)] == [
        (1, False),
        (1, True),
        (2, False),
        (2, True),
        (3, False),
    ]


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


def test_a_flushed_line_can_be_read_while_the_run_goes_on(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path / METRICS_LOG)
    log.flush()  # before anything happened there is nothing to write
    log.show(Update(1, 1, 0.5, 1.0, 0.1, 1.0, 1))
    log.flush()
    assert [row["update"] for row in rows(tmp_path)] == [1]
    log.close()


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
    times = iter(range(100, 200))
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


def test_lines_tell_of_an_update_every_ten_seconds() -> None:
    stream, now = io.StringIO(), 0.0
    lines = LineDisplay("tokens", stream)
    lines.pace.clock, lines.said = lambda: now, now
    for number in range(1, 26):
        now = float(number)
        lines.show(Update(number, 1, number / 25, 1.0, 0.1, 1.0, 30.0))
    assert [line.split()[3] for line in stream.getvalue().splitlines()] == ["10", "20"]


def test_a_bar_is_as_full_as_the_run_is_done_and_full_at_an_early_end() -> None:
    pytest.importorskip("rich")
    stream = Terminal()
    shown = BarDisplay("tokens", stream)
    (bar,), shown.pace.clock = shown.bar.tasks, lambda: 0.0
    for progress in (0.25, 0.5):
        shown.show(Update(1, 1, progress, 1.0, 0.1, 1.0, 30.0))
        assert bar.percentage == 100 * progress
        assert bar.description == "epoch 1  update 1  loss 1"
    shown.show(Evaluation(1, {"a": 1.5, "[b]": 2.5}, "a", False))
    shown.show(Update(2, 1, 0.75, 1.0, 0.1, 1.0, 30.0))
    assert bar.description.startswith("epoch 1  update 2  loss 1  a 1.50")
    shown.show(TrainingEnd(1, "patience", {}))
    assert bar.completed == bar.total
    assert shown.bar.live.is_started
    shown.close()
    assert not shown.bar.live.is_started
    assert "[b] 2.50" in stream.getvalue(), "a name is no markup"
