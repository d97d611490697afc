"""Save a document that the server makes. A file appears when all of it is here."""

import os
import tempfile
from pathlib import Path

from satchel.cli.engine.files.download import local_name, numbered
from satchel.cli.engine.http.client import Client

_READ_BYTES = 256 * 1024


def save_export(client: Client, path: str, file: str | None, name: str) -> tuple[Path, int]:
    """Where it is, and how many bytes it has. A file that was named is replaced; else nothing is."""
    target = Path(file) if file else _free(Path(local_name(name)))
    if target.is_dir():
        target = _free(target / local_name(name))
    with client.receive_bytes(path, {}) as answer:
        descriptor, partial = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as saved:
                for piece in answer.chunks(_READ_BYTES):
                    saved.write(piece)
            Path(partial).chmod(0o644)
            Path(partial).replace(target)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    return target, target.stat().st_size


def _free(target: Path) -> Path:
    number = 1
    tried = target
    while tried.exists():
        number += 1
        tried = numbered(target, number)
    return tried
