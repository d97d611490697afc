"""Print what happens as it happens: a sentence with the time for people, a JSON object per line for machines."""

import json
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from satchel.cli.engine.terminal.output import hanging, paint, printable


@dataclass(frozen=True, slots=True)
class Narrator:
    """Several threads may tell at once."""

    as_json: bool
    _speaking: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, kind: str, sentence: str, *, at: str = "", who: str = "", **facts: Any) -> None:
        """`sentence` is what people read, after the name of `who` says it; `facts` are for machines."""
        if self.as_json:
            self.tell_machines(kind, at=at, **facts)
        else:
            self._print("\n".join(_lines(sentence, at, who)))

    def tell_machines(self, kind: str, *, at: str = "", **facts: Any) -> None:
        """What people need not be told."""
        if self.as_json:
            moment = at or datetime.now(UTC).isoformat(timespec="milliseconds")
            self._print(json.dumps({"type": kind, "at": moment, **facts}))

    def _print(self, lines: str) -> None:
        with self._speaking:
            print(lines, flush=True)


def _lines(sentence: str, at: str, who: str) -> list[str]:
    moment = datetime.fromisoformat(at) if at else datetime.now(UTC)
    clock = moment.astimezone().strftime("%H:%M")
    indent = " " * (len(clock) + 2)
    speaker = f"{printable(who)}: " if who else ""
    first, *rest = (speaker + sentence).splitlines() or [""]
    begun = hanging(printable(first), indent)[len(indent) :]
    if speaker and begun.startswith(speaker):  # unless the name itself had to be wrapped
        begun = paint(speaker, "strong") + begun.removeprefix(speaker)
    return [f"{paint(clock, 'quiet')}  {begun}", *(hanging(printable(line), indent) for line in rest)]
