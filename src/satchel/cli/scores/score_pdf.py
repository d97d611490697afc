"""Save a score as a PDF."""

from dataclasses import dataclass
from pathlib import Path

from satchel.cli.engine.api_types.score_types import ScoreLayoutView, ScoreView
from satchel.cli.engine.files.export_save import save_export
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.cli.scores.score_find import part_of


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
    return save_export(client, f"/scores/{score.score_id}/export{query}", file, f"{score.title}.pdf")


def _instrument(client: Client, score: ScoreView, wanted: str) -> int:
    """Its place among the instruments of the music, from 1."""
    names = client.call("GET", f"/scores/{score.score_id}/layout", ScoreLayoutView).instruments
    for number, name in enumerate(names, 1):
        if name.casefold() == wanted.casefold():
            return number
    raise CommandFailed(f"{score.title} has no instrument called {wanted}. It has: {', '.join(names)}.")
