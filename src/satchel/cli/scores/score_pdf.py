"""Save a score as a PDF. A file appears when all of it is here."""

import os
import tempfile
from pathlib import Path

from satchel.cli.engine.api_types.score_types import ScoreView
from satchel.cli.engine.files.download import local_name, numbered
from satchel.cli.engine.http.client import Client
from satchel.cli.scores.score_find import part_of

_READ_BYTES = 256 * 1024


def export_score(
    client: Client, score: ScoreView, file: str | None, *, part: str | None, with_marks: bool
) -> tuple[Path, int]:
    """Where it is, and how many bytes it has. A file that was named is replaced; else nothing is."""
    query = f"?marks={'true' if with_marks else 'false'}"
    if part is not None:
        query += f"&part={part_of(score, part).part_id}"
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


def _free(target: Path) -> Path:
    number = 1
    tried = target
    while tried.exists():
        number += 1
        tried = numbered(target, number)
    return tried
