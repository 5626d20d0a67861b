"""``run.json``: what a model was made of, by what, where and how long; a resumed run adds to it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from elman import artifact
from elman.errors import ModelError, printable
from elman.files.model_files import RUN
from elman.number_format import format_duration
from elman.pipeline.machine import describe_machine, git_revision, hide_home, software_versions
from elman.text.byte_source import display_name
from elman.text.data_digest import describe_source
from elman.text.json_io import read_json
from elman.text.tables import TableReport
from elman.training.distributed import is_main_process

PHASE = "pretraining"  # what a run did with unlabelled text, in its record
PYTHON = "Python"  # in the place of the command, where a program called


class RunRecord:
    """The record of a run while it takes place: written when it begins, and again when the session is over."""

    def __init__(self, folder: Path, session: dict[str, Any], seed: int, init: Path | None) -> None:
        self.folder, self.session = folder, session
        self.clock = time.monotonic()
        self.content: dict[str, Any] = {"seed": seed}
        self.chosen: Mapping[str, Any] = {}  # by the data, of a plain command
        if init is not None:
            self.content["init"] = printable(hide_home(str(init)))

    def begin(self, data: Mapping[str, Any], *, resumed: bool) -> None:
        """Write what is known before the first update; sessions of this run before it are kept."""
        earlier = _read_earlier(self.folder / RUN) if resumed else {}
        if PHASE in earlier:
            self.content[PHASE] = earlier[PHASE]
        self.content |= {"chosen": self.chosen} if self.chosen else {}
        self.content |= {"data": data, "sessions": [*earlier.get("sessions", ()), self.session]}
        artifact.write_run(self.folder, self.content)

    @property
    def first_phase(self) -> Mapping[str, Any]:
        """What is known of the phase on unlabelled text; nothing where there was none."""
        phase: Mapping[str, Any] = self.content.get(PHASE, {})
        return phase

    def add_first_phase(self, phase: Mapping[str, Any]) -> None:
        """Write what the phase on unlabelled text took and reached."""
        self.content[PHASE] = phase
        artifact.write_run(self.folder, self.content)

    @property
    def elapsed(self) -> float:
        """Seconds that the run took so far, earlier sessions included."""
        earlier = (session.get("seconds", 0.0) for session in self.content.get("sessions", ()))
        return sum(earlier, time.monotonic() - self.clock)

    def add_baseline(self, name: str, seconds: float) -> None:
        """Note which simple model was judged beside the network, and how long it took."""
        self.content["baseline"] = {"name": name, "seconds": seconds}

    def read_chosen(self) -> Mapping[str, Any]:
        """What was chosen when the run began, in an earlier session."""
        return dict(_read_earlier(self.folder / RUN).get("chosen", {}))

    def finish(self, updates: int | None = None) -> dict[str, Any]:
        """Write how long it took, and after how many updates it was over; None: it was interrupted."""
        self.session |= {"seconds": round(time.monotonic() - self.clock, 1), "finished": updates is not None}
        self.session |= {} if updates is None else {"updates": updates}
        if is_main_process():
            artifact.write_run(self.folder, self.content)
        return self.content


def describe_session(command: str, device: str) -> dict[str, Any]:
    """When, how and where a run is begun or gone on with."""
    revision = git_revision()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        **software_versions(),
        **({"revision": revision} if revision else {}),
        "machine": describe_machine(device),
    }


def describe_data(
    named: Mapping[str, Any], sources: Mapping[str, Any], reports: Sequence[TableReport]
) -> dict[str, list[dict[str, Any]]]:
    """The sources of each part, as they were named and where they are; reports know their rows and columns."""
    known = {report.source: report for report in reports}

    def describe(name: str, path: str) -> dict[str, Any]:
        report = known.get(display_name(path))
        columns = {"columns": report.names} if report and report.names else {}
        return {**describe_source(path, printable(hide_home(name)), report.rows if report else None), **columns}

    found = {}
    for part, given in sources.items():
        pairs = zip(_each(named[part]), _each(given), strict=True)
        found[part] = [describe(name, path) for name, path in pairs if path]
    return {part: files for part, files in found.items() if files}


def summarize_run(record: Mapping[str, Any]) -> str:
    """A short form for the model card."""
    sessions = record["sessions"]
    last, seconds = sessions[-1], sum(session.get("seconds", 0) for session in sessions)
    machine = last["machine"]
    threads = f"{machine['threads']} thread{'s' * (machine['threads'] != 1)}"
    where = machine.get("gpu") or f"{threads} of {machine['cpu']}"
    resumed = f", in {len(sessions)} sessions" if len(sessions) > 1 else ""
    when = f"{last['date'][:10]}, {format_duration(seconds)}{resumed} on {where}"
    versions = f"elman {last['elman']}, torch {last['torch']}, Python {last['python']}"
    return f"{when}; {versions}; seed {record['seed']}"


def _read_earlier(path: Path) -> dict[str, Any]:
    try:
        record = read_json(path)
    except ModelError:
        return {}  # what an older version left has no record
    return record if isinstance(record, dict) else {}


def _each(source: Any) -> Iterable[str]:
    return source if isinstance(source, tuple) else (source,)
