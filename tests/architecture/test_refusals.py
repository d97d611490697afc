"""`invalid` means that the description forbids the request: only what reads requests by the description says so."""

import re
from pathlib import Path

import satchel

SOURCE = Path(satchel.__file__).parent
READS_REQUESTS = {"edge/api/validation.py"}
_RAISED = re.compile(r"(?:raise|return) Invalid\(")


def test_only_what_reads_requests_refuses_their_form() -> None:
    found = {
        file.relative_to(SOURCE).as_posix()
        for part in ("edge", "features", "kernel")
        for file in (SOURCE / part).rglob("*.py")
        if _RAISED.search(file.read_text(encoding="utf-8"))
    }
    assert found == READS_REQUESTS, "refuse with one of satchel.kernel.unfit, or with a slug of your own"
