"""Pictures of a real server: made in a process of its own that is there only when needed."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.media.samples import is_flag, jpeg, photo
from tests.server.process import serving
from tests.server.test_distributed import Person

pytestmark = pytest.mark.services

LIBRARIES = ("vips", "PIL", "pillow", "libav", "pdfium", "rawpy")


def children_of(process_id: int) -> list[int]:
    found = Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()
    return [int(each) for each in found]


def loaded(process_id: int) -> list[str]:
    maps = Path(f"/proc/{process_id}/maps").read_text()
    return [name for name in LIBRARIES if name in maps]


def until(condition: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def picture_of(person: Person, file_id: str) -> dict[str, Any] | None:
    return person.ask("GET", f"/shelf/files/{file_id}").json()["picture"]


def is_gone(process_id: int) -> bool:
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_the_server_loads_no_library_that_decodes_and_starts_no_process_before_it_has_to(tmp_path: Path) -> None:
    with serving(tmp_path, "--sign-up", "open") as server:
        ann = Person(server, "ann")
        ann.upload(b"words", destination="shelf", filename="notes.txt", filetype="text/plain")
        assert children_of(server.process.pid) == []
        file_id = ann.upload(jpeg(), destination="shelf", filename="flag.jpg", filetype="image/jpeg")
        picture = until(lambda: (found := picture_of(ann, file_id)) and found["state"] == "ready" and found)
        assert is_flag(ann.ask("GET", f"/shelf/files/{file_id}/picture/grid/{picture['version']}").content)
        (child, *_) = children_of(server.process.pid)
        assert loaded(child) == ["vips"]
        assert loaded(server.process.pid) == []
        # Whatever happens to the server, its processes do not outlive it.
        server.kill()
        until(lambda: is_gone(child))


def test_killed_processes_cost_no_picture(tmp_path: Path) -> None:
    """Each is killed as soon as it is seen, until there have been several; then they are left alone."""
    with serving(tmp_path, "--sign-up", "open") as server:
        ann = Person(server, "ann")
        ids = [
            ann.upload(photo(number, 2400, 1800), destination="shelf", filename=f"{number}.jpg", filetype="image/jpeg")
            for number in range(6)
        ]
        killed = set[int]()
        until(lambda: children_of(server.process.pid))
        for child in children_of(server.process.pid):
            os.kill(child, signal.SIGKILL)
            killed.add(child)
        for file_id in ids:
            answer = until(lambda file_id=file_id: made(ann, file_id))
            assert answer["state"] == "ready"
        assert not killed & set(children_of(server.process.pid))
        assert server.client.get("/readyz").status_code == 200


def made(person: Person, file_id: str) -> dict[str, Any] | None:
    picture = picture_of(person, file_id)
    return picture if picture is not None and picture["state"] == "ready" else None
