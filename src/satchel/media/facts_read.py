"""Reads the metadata that a job asks for: from an open file, or from what is known without its bytes."""

from datetime import UTC, datetime
from typing import BinaryIO

from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata.media_read import Circumstances, Sidecar, read_media, read_window
from satchel.media.metadata.zone_find import zone_at
from satchel.media.metadata_job import MetadataJob


def read_facts(job: MetadataJob, file: BinaryIO) -> MediaFacts:
    return read_window(ByteWindow(file, job.size_bytes), _circumstances(job))


def read_without_bytes(job: MetadataJob) -> MediaFacts:
    """What the name and the sidecars of a file say."""
    return read_media(b"", _circumstances(job))


def _circumstances(job: MetadataJob) -> Circumstances:
    return Circumstances(
        name=job.name,
        now=datetime.fromtimestamp(job.now, UTC),
        modified=None if job.modified is None else datetime.fromtimestamp(job.modified, UTC),
        zone=job.zone,
        sidecars=[Sidecar(name, data) for name, data in job.sidecars],
        zone_at=zone_at,
    )
