"""The process that reads the metadata of files of strangers: started on demand, limited, and killed at will.

It gets jobs with open files on a socket, and answers on its standard output, each answer after its length.
"""

import os
import resource
import socket
import sys
from datetime import UTC, datetime
from typing import BinaryIO

import msgspec

from satchel.media.metadata.byte_window import ByteWindow
from satchel.media.metadata.media_facts import MediaFacts
from satchel.media.metadata.media_read import Circumstances, Sidecar, read_window
from satchel.media.metadata.zone_find import zone_at
from satchel.media.metadata_job import MAX_JOB_BYTES, READY, MetadataJob

MAX_MEMORY_BYTES = 1024**3
MAX_CPU_SECONDS = 10


_decode = msgspec.msgpack.Decoder(MetadataJob).decode
_encode = msgspec.msgpack.Encoder().encode


def main(descriptor: int) -> None:
    """Work until the other end of the socket is closed."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    answers = os.fdopen(os.dup(1), "wb")
    answers.write(READY)
    answers.flush()
    with socket.socket(fileno=descriptor) as jobs:
        while True:
            message, files, _, _ = socket.recv_fds(jobs, MAX_JOB_BYTES, 1)
            if not message or not files:
                return
            with os.fdopen(files[0], "rb") as file:
                body = _encode(_read(_decode(message), file))
            answers.write(len(body).to_bytes(4, "big") + body)
            answers.flush()


def _read(job: MetadataJob, file: BinaryIO) -> MediaFacts:
    used = resource.getrusage(resource.RUSAGE_SELF)
    # The kernel counts over the whole life of a process, so each job moves the limit on.
    allowed = int(used.ru_utime + used.ru_stime) + MAX_CPU_SECONDS + 1
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))
    return read_window(ByteWindow(file, job.size_bytes), circumstances(job))


def circumstances(job: MetadataJob) -> Circumstances:
    return Circumstances(
        name=job.name,
        now=datetime.fromtimestamp(job.now, UTC),
        modified=None if job.modified is None else datetime.fromtimestamp(job.modified, UTC),
        zone=job.zone,
        sidecars=[Sidecar(name, data) for name, data in job.sidecars],
        zone_at=zone_at,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
