"""Save a score as a PDF. A file appears when all of it is here."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from satchel.cli.engine.api_types.score_types import ScoreLayoutView, ScoreView
from satchel.cli.engine.files.download import local_name, numbered
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.cli.scores.score_find import part_of

_READ_BYTES = 256 * 1024


@dataclass(frozen=True)
class Wanted:
    """What of a score: the pages of a part, or the music laid out anew for an instrument; and whether with marks."""

    part: str | None = None
    transpose: int = 0
    instrument: str | None = None
    size: str = "normal"
    with_marks: bool = True


def export_score(client: Client, score: ScoreView, file: str | None, wanted: Wanted) -> tuple[Path, int]:
    """Where it is, and how many bytes it has. A file that was named is replaced; else nothing is."""
    query = f"?marks={'true' if wanted.with_marks else 'false'}"
    if wanted.part is not None:
        query += f"&part={part_of(score, wanted.part).part_id}"
    query += f"&transpose={wanted.transpose}&size={wanted.size}"
    if wanted.instrument is not None:
        query += f"&instrument={_instrument(client, score, wanted.instrument)}"
    target = Path(file) if file else _free(Path(local_name(f"{score.title}.pdf")))
    if target.is_dir():
        target = _free(target / local_name(f"{score.title}.pdf"))
    with client.receive_bytes(f"/scores/{score.score_id}/export{query}", {}) as answer:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as saved:
                for piece in answer.chunks(_READ_BYTES):
                    saved.write(piece)
            Path(name).chmod(0o644)
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    return target, target.stat().st_size


def _instrument(client: Client, score: ScoreView, wanted: str) -> int:
    """Its place among the instruments of the music, from 1."""
    names = client.call("GET", f"/scores/{score.score_id}/layout", ScoreLayoutView).instruments
    for number, name in enumerate(names, 1):
        if name.casefold() == wanted.casefold():
            return number
    raise CommandFailed(f"{score.title} has no instrument called {wanted}. It has: {', '.join(names)}.")


def _free(target: Path) -> Path:
    number = 1
    tried = target
    while tried.exists():
        number += 1
        tried = numbered(target, number)
    return tried
