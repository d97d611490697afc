"""Find which photo of the server somebody means: by its id, or by a local file with the same bytes."""

import hashlib
import re
from pathlib import Path

from satchel.cli.engine.api_types.photo_types import KnownList
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed

_MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{44,60}")


def media_id_of(client: Client, typed: str) -> str:
    """An id as it is, and a file by its bytes."""
    if not Path(typed).exists() and _MEDIA_ID.fullmatch(typed):
        return typed
    try:
        with Path(typed).open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            size_bytes = file.tell()
    except OSError as error:
        raise CommandFailed(f"{typed} cannot be read: {error.strerror}.") from error
    body = {"files": [{"sha256": sha256, "size_bytes": size_bytes}]}
    (known,) = client.call("POST", "/photos/known", KnownList, body).files
    if known.id is None:
        raise CommandFailed(f"{typed} is not stored. `satchel photos backup` stores it.")
    return known.id
