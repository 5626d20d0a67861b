"""Fuzzing: a target is a function of a random generator, which makes up an input and feeds it to Elman.

A target may return, or raise an ElmanError of one line. Anything else is a finding: another exception, an
AssertionError of the target's own laws, more seconds than the limit, the death of the process. A file
``fuzz_NAME.py`` has a dict ``TARGETS`` and ends with ``main(TARGETS)``. Each worker runs in an empty folder.

    python -m tests.campaign --count 1000000 --jobs 16
    python -m tests.campaign.fuzz_corpora --seconds 60 --only tables
    python -m tests.campaign --replay tables:1234
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import chdir, contextmanager
from multiprocessing import connection, get_context
from pathlib import Path
from typing import Any, NamedTuple

from elman.errors import ElmanError

Target = Callable[[random.Random], None]
LIMIT = 20  # seconds for an input
MEMORY = 6 << 30  # bytes for a worker: what wants more is a MemoryError, not the end of the machine
LONGEST = 2500  # characters of a message


class Finding(NamedTuple):
    """An input that Elman does not survive: ``case`` replays it."""

    case: str  # TARGET:SEED, or TARGET:SEED:DRAWS
    what: str
    trace: str = ""


class Hang(BaseException):
    """The time is over. No Exception, so that no handler of the code under test takes it."""


class Draws(random.Random):
    """The generator of a seed, of whose draws only some are random: all others are zero."""

    def __init__(self, seed: str, kept: Container[int]) -> None:
        super().__init__(seed)
        self.kept, self.count = kept, 0

    def random(self) -> float:
        return super().random() * self._keep()

    def getrandbits(self, k: int) -> int:
        return super().getrandbits(k) * self._keep()

    def _keep(self) -> bool:
        self.count += 1
        return self.count - 1 in self.kept


def attempt(targets: Mapping[str, Target], case: str, limit: float = LIMIT) -> tuple[bool, Finding | None]:
    """Run one case: was it refused, and is it a finding?"""
    name, seed, draws = (*case.split(":"), "")[:3]
    rng = random.Random(f"{name}:{seed}")
    if draws:
        rng = Draws(f"{name}:{seed}", {int(draw) for draw in draws.split(",")})
    try:
        with _time_limit(limit), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            targets[name](rng)
    except ElmanError as error:
        message = str(error)
        if message.strip() and "\n" not in message and len(message) <= LONGEST:
            return True, None
        return True, Finding(case, f"a message of {len(message)} characters: {message[:200]!r}")
    except (Exception, Hang) as error:
        return False, Finding(
            case, _describe(error), traceback.format_exc() + _show_input(error, targets[name])
        )
    return False, None


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _describe(error: BaseException) -> str:
    """The error and its place; findings that agree in both are one."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "elman" in frame.filename or "campaign" in frame.filename]
    place = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} at {place}"


def _show_input(error: BaseException, target: Target) -> str:
    """The variables of the target when it failed: the input is among them."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code is getattr(target, "__code__", None):
            return "".join(
                f"  {name} = {value!r:.500}\n" for name, value in frame.f_locals.items() if name != "rng"
            )
    return ""


def shrink(targets: Mapping[str, Target], finding: Finding, seconds: float = 10) -> Finding:
    """The same finding with as few random draws as could be found in this time."""
    until, best = time.monotonic() + seconds, finding
    whole = Draws(finding.case, range(1 << 40))
    try:
        with _time_limit(LIMIT):
            targets[finding.case.split(":")[0]](whole)
    except BaseException:  # the finding itself
        pass
    kept, size = [*range(whole.count)], whole.count
    while size and time.monotonic() < until:
        for start in range(0, len(kept), size):
            fewer = kept[:start] + kept[start + size :]
            case = f"{finding.case}:{','.join(map(str, fewer)) or '-1'}"
            _, found = attempt(targets, case, limit=1)
            if found and found.what == finding.what:
                kept, best = fewer, found
                break
        else:
            size //= 2
    return best


class Summary(NamedTuple):
    """What came of a campaign."""

    inputs: int
    refused: int
    findings: list[Finding]  # one of each kind
    seconds: float

    def __str__(self) -> str:
        speed = self.inputs / max(self.seconds, 1e-9)
        counts = f"{self.inputs:,} inputs, {self.refused:,} of them refused in one line"
        return f"{counts}; {len(self.findings)} findings; {self.seconds:.0f} s, {speed:,.0f} inputs a second"


def run(targets: Mapping[str, Target], count: int, seconds: float, jobs: int, first: int = 0) -> Summary:
    """Spread about ``count`` inputs, all targets with each seed from ``first`` on, over workers."""
    begun, inputs, refused, found = time.monotonic(), 0, 0, dict[str, Finding]()
    last = first + -(-count // len(targets))
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        shares = [
            [f"{t}:{seed}" for seed in range(first + k, last, jobs) for t in targets] for k in range(jobs)
        ]
        workers = [Worker(targets, share, begun + seconds, folder) for share in shares]
        while running := [worker for worker in workers if not worker.over]:
            connection.wait([worker.pipe for worker in running], timeout=1)
            for was_refused, finding in (outcome for worker in running for outcome in worker.receive()):
                inputs, refused = inputs + 1, refused + was_refused
                if finding:
                    found.setdefault(finding.what, finding)
    return Summary(inputs, refused, [*found.values()], time.monotonic() - begun)


class Worker:
    """A process that runs cases one after the other; where one kills it or hangs in C, a new one goes on."""

    def __init__(self, targets: Mapping[str, Target], cases: list[str], until: float, folder: str) -> None:
        self.targets, self.cases, self.until, self.folder = targets, cases, until, folder
        self.done, self.over = 0, False
        self._start()

    def _start(self) -> None:
        context, self.latest = get_context("fork"), time.monotonic()
        self.pipe, end = context.Pipe(duplex=False)
        self.process = context.Process(target=self._work, args=(end,), daemon=True)
        self.process.start()
        end.close()

    def _work(self, pipe: Any) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        os.chdir(tempfile.mkdtemp(dir=self.folder))
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)
        for number, case in enumerate(self.cases[self.done :]):
            if time.monotonic() > self.until:
                break
            first = number < len(self.targets)  # which may import, and build a model for all that follow
            pipe.send(attempt(self.targets, case, 5 * LIMIT if first else LIMIT))
        pipe.send(None)

    def receive(self) -> Iterator[tuple[bool, Finding | None]]:
        """What has come in since the last time."""
        try:
            while not self.over and self.pipe.poll():
                outcome = self.pipe.recv()
                self.over, self.latest = outcome is None, time.monotonic()
                if outcome is not None:
                    self.done += 1
                    yield outcome
            if time.monotonic() - self.latest > 6 * LIMIT:
                self.process.kill()
        except EOFError:
            self.process.join()
            yield False, Finding(self.cases[self.done], f"the process died with code {self.process.exitcode}")
            self.done += 1
            self._start()


def main(targets: Mapping[str, Target]) -> None:
    """The command line of a campaign."""
    parser = argparse.ArgumentParser(description="Fuzz Elman.")
    parser.add_argument("--count", type=int, default=10_000, help="inputs in all")
    parser.add_argument("--seconds", type=float, default=3600, help="stop after so long")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", nargs="+", choices=[*targets], help="these targets alone")
    parser.add_argument("--replay", metavar="TARGET:SEED[:DRAWS]", help="run this case again, and nothing else")
    options = parser.parse_args()
    if options.replay:
        with tempfile.TemporaryDirectory() as folder, chdir(folder):  # targets write where they are
            _, finding = attempt(targets, options.replay)
        sys.exit(f"{finding.trace}{finding.what}" if finding else None)
    chosen = {name: targets[name] for name in options.only or targets}
    summary = run(chosen, options.count, options.seconds, options.jobs, options.first)
    for finding in summary.findings:
        small = shrink(targets, finding) if finding.trace else finding
        print(f"{small.trace}{small.case}  {small.what}\n")
    print(summary)
    sys.exit(bool(summary.findings))
