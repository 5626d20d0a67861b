"""What became of each mutant: a file of lines that a later run goes on with, and a table by room."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.mutants.rooms import CORE, GOAL, room_of

EQUIVALENT = Path(__file__).with_name("equivalent.tsv")


def read_equivalent() -> dict[str, str]:
    """Mutants that no test can notice, with the reason."""
    lines = EQUIVALENT.read_text().splitlines()
    return dict(line.split("\t") for line in lines if line and not line.startswith("#"))


class ResultFile:
    """Appended to as answers come; the last answer about a mutant counts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                self.answers |= {(answer := json.loads(line))["key"]: answer}
                if "killed" not in answer:
                    del self.answers[answer["key"]]

    def add(self, answer: dict[str, Any]) -> None:
        self.answers[answer["key"]] = answer
        self._append(answer)

    def take_back(self, key: str) -> None:
        """No answer after all."""
        del self.answers[key]
        self._append({"key": key})

    def _append(self, answer: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(answer, ensure_ascii=False) + "\n")

    def is_settled(self, key: str, tree: str) -> bool:
        """A killed mutant stays killed; one that survived is tried again when tests or code have changed."""
        answer = self.answers.get(key)
        return answer is not None and (answer["killed"] or answer["tree"] == tree)


def summarize(answers: list[dict[str, Any]]) -> list[str]:
    """A line for each room, then every survivor with its place."""
    equivalent = read_equivalent()
    rooms: dict[str, list[bool]] = defaultdict(list)
    survivors = []
    for answer in answers:
        if answer["key"] in equivalent:
            continue
        rooms[room_of(answer["key"].split(" ")[0])].append(answer["killed"])
        if not answer["killed"]:
            survivors.append(f"{answer['place']} {answer['key'].partition(' ')[2]} ({answer['tests']} tests)")
    lines = [f"{'room':<12} {'mutants':>7} {'killed':>6} {'share':>7}  goal"]
    for room, killed in sorted(rooms.items(), key=lambda item: (item[0] not in CORE, item[0])):
        share = 100 * sum(killed) / len(killed)
        goal = GOAL[room in CORE]
        missed = "" if share >= goal else "  missed"
        lines.append(f"{room:<12} {len(killed):>7} {sum(killed):>6} {share:>6.1f}%  {goal} %{missed}")
    both = [killed for room in rooms.values() for killed in room]
    lines.append(f"{'all':<12} {len(both):>7} {sum(both):>6} {100 * sum(both) / max(len(both), 1):>6.1f}%")
    return [*lines, "", *sorted(survivors)]
