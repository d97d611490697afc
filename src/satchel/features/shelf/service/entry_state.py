"""The state of a file or folder as an ETag, so that nobody changes what they have not seen."""

import hashlib

import msgspec

from satchel.features.shelf.model import EntryChanged, Etag
from satchel.features.shelf.records import FileRow
from satchel.features.shelf.service.placement import Entry


def etag_of(entry: Entry) -> Etag:
    """A digest of all that a client can change."""
    facts = [entry.name, entry.modified_at]
    if isinstance(entry, FileRow):
        facts += [entry.folder_id, entry.sha256, entry.expires_at, str(entry.executable)]
    else:
        facts += [entry.parent_id]
    return Etag(hashlib.sha256(msgspec.json.encode(facts)).hexdigest()[:32])


def check_state(entry: Entry, wanted: Etag | None) -> None:
    """Raises `EntryChanged` if it is in another state than the client has seen."""
    if wanted is not None and wanted != etag_of(entry):
        raise EntryChanged("This has changed since you read it. Read it again, then decide.")
