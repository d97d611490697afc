"""The process that decodes files of strangers and reads their metadata: started when there is something to
do, limited, and killed at will.

It gets jobs with open files on a socket and answers on its standard output. It needs no network, writes no files, and
knows nothing of the stores.
"""

import os
import resource
import socket
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO

from satchel.media.decoders import Undecodable, Unsupported, make_picture
from satchel.media.decoders.scores import make_scores
from satchel.media.facts_read import read_facts
from satchel.media.frames import MAX_JOB_BYTES, READY, Answer, Job, Made, decode_job, write_frame
from satchel.media.redaction.original_redact import redact
from satchel.media.score_jobs import ScoreAnswer, ScoreJob

MAX_MEMORY_BYTES = 2 * 1024**3
MAX_CPU_SECONDS = 20
# Every page of a score has the seconds above, but not all pages together: others wait for theirs.
MAX_SCORE_CPU_SECONDS = 240
NICENESS = 5
_REASON_CHARACTERS = 500


def main(descriptor: int) -> None:
    """Work until the other end of the socket is closed."""
    _limit()
    answers = _own_output()
    answers.write(READY)
    answers.flush()
    with socket.socket(fileno=descriptor) as jobs:
        while True:
            message, files, _, _ = socket.recv_fds(jobs, MAX_JOB_BYTES, 1)
            if not message or not files:
                return
            with closing(os.fdopen(files[0], "rb", buffering=0)) as file:
                job = decode_job(message)
                _allow_time(_used_seconds() + MAX_CPU_SECONDS)
                if job.score is not None:
                    _answer_scores(job.score, job.size_bytes, file, answers)
                else:
                    write_frame(answers, _answer(job, file))


def _used_seconds() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int(used.ru_utime + used.ru_stime) + 1


def _allow_time(until: int) -> None:
    """The kernel counts over the whole life of a process, so each job, and each page of one, moves the limit on."""
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def _answer_scores(job: ScoreJob, size_bytes: int, file: BinaryIO, answers: BinaryIO) -> None:
    last = _used_seconds() + MAX_SCORE_CPU_SECONDS

    def send(answer: ScoreAnswer) -> None:
        write_frame(answers, Answer(score=answer))
        _allow_time(min(_used_seconds() + MAX_CPU_SECONDS, last))

    send(make_scores(file, size_bytes, job, send))


def _answer(job: Job, file: BinaryIO) -> Answer:
    return Answer(
        facts=None if job.metadata is None else read_facts(job.metadata, file),
        made=_made(job, file) if job.picture else None,
        redaction=redact(file, job.size_bytes, job.name) if job.redaction else None,
    )


def _made(job: Job, file: BinaryIO) -> Made:
    try:
        return make_picture(file, job.size_bytes, job.name)
    except Unsupported as error:
        return Made(state="unsupported", reason=str(error))
    except Undecodable as error:
        return Made(state="failed", reason=str(error))
    except Exception as error:  # noqa: BLE001 -- every library has errors of its own, and the file is to blame
        return Made(state="failed", reason=f"{type(error).__name__}: {error}"[:_REASON_CHARACTERS])


def _limit() -> None:
    # If the machine has less memory than we may use, the kernel ends us before it ends the server.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", "ascii")
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    os.nice(NICENESS)


def _own_output() -> BinaryIO:
    """Our standard output. What a library prints goes where its errors go, not among the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(int(sys.argv[1]))
