"""Ask a server which files it has, and let it read them again."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from satchel.cli.engine.api_types.photo_types import KnownList, KnownView, VerifiedList, VerifiedView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Retry
from satchel.cli.engine.terminal.output import CommandFailed, note
from satchel.cli.photos.photo_fates import batches

Signature = tuple[str, int]
_KNOWN_AT_ONCE = 1000
# The server reads for 20 seconds and leaves the rest for later. So many are what it can do on a slow disk.
_VERIFIED_AT_ONCE = 50

T = TypeVar("T")


def ask_known(client: Client, signatures: Sequence[Signature]) -> dict[Signature, KnownView]:
    found: dict[Signature, KnownView] = {}
    for batch in batches(list(dict.fromkeys(signatures)), _KNOWN_AT_ONCE):
        answered = _asked(client, "/photos/known", batch, KnownList).files
        found |= zip(batch, answered, strict=True)
    return found


def verify(
    client: Client, signatures: Sequence[Signature], heard: Callable[[int], None]
) -> dict[Signature, VerifiedView]:
    """What reading the stored bytes again has shown. `heard` is told how many answers there are."""
    found: dict[Signature, VerifiedView] = {}
    waiting = list(dict.fromkeys(signatures))
    while waiting:
        batch, waiting = waiting[:_VERIFIED_AT_ONCE], waiting[_VERIFIED_AT_ONCE:]
        answered = _asked(client, "/photos/verify", batch, VerifiedList).files
        later = [each for each, view in zip(batch, answered, strict=True) if view.state == "later"]
        if len(later) == len(batch):
            raise CommandFailed("The server does not come to reading the files. Try again later.")
        found |= {each: view for each, view in zip(batch, answered, strict=True) if view.state != "later"}
        waiting = later + waiting
        heard(len(found))
    return found


def _asked(client: Client, path: str, batch: Sequence[Signature], form: type[T]) -> T:
    body = json.dumps({"files": [{"sha256": sha256, "size_bytes": size} for sha256, size in batch]}).encode()
    retry = Retry(threading.Event(), note)
    while True:
        try:
            return client.post_bytes(path, "application/json", body, form)
        except (Refused, Unreachable) as error:
            retry.wait_after(error)
