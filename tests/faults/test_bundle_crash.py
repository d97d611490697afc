"""A server that takes in bundles is killed again and again: what it acknowledged is there, once, and nothing leaks."""

import os
import random
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx

from satchel.edge.uploads.bundles import BUNDLE_TYPE
from satchel.features.shelf.service.shelf_garbage import sweep_shelves
from satchel.kernel.clock import ManualClock, system_clock
from tests.application import running_satchel
from tests.faults.test_upload_crash import signed_up
from tests.features.shelf.given import check_shelf, shelf_of
from tests.server.process import ServerProcess, serving
from tests.uploads.given import a_bundle

KILLS = 5
SENDERS = 3
FILES = 20
# In one life of the server, so that in the end there are not too many to look at.
FILES_PER_LIFE = 56


class Client:
    """Sends bundle after bundle, and each again and again until it is answered."""

    def __init__(self, name: str, member: dict[str, str]) -> None:
        self._name = name
        self._headers = {**member, "content-type": BUNDLE_TYPE}
        self._bundle: list[tuple[dict[str, Any], bytes]] = []
        # By the place of each file, the id that it was answered with.
        self.acknowledged: dict[str, str] = {}

    def send_until_it_dies(self, server: ServerProcess, life: int, answered: threading.Event) -> None:
        with httpx.Client(base_url=server.url, timeout=20) as http:
            while len(self.acknowledged) < FILES_PER_LIFE * life:
                try:
                    self.send(http)
                    answered.set()
                except httpx.TransportError:
                    return

    def send(self, http: httpx.Client) -> None:
        self._bundle = self._bundle or self._new_bundle()
        body = a_bundle(*self._bundle, destination="shelf")
        answer = http.post("/api/v1/uploads/bundle", content=body, headers=self._headers)
        assert answer.status_code == 200, answer.text
        for (about, _), kept in zip(self._bundle, answer.json()["files"], strict=True):
            assert kept["became"], kept
            self.acknowledged[about["details"]["relativePath"]] = kept["became"]
        self._bundle = []

    def _new_bundle(self) -> list[tuple[dict[str, Any], bytes]]:
        number = len(self.acknowledged)
        places = [f"{self._name}/{(number + each) % 3}/{number + each}" for each in range(FILES)]
        # Some bytes come more than once, from this sender and from others.
        return [
            ({"filename": place.rpartition("/")[2], "key": place.replace("/", "-"), "details": {"relativePath": place}},
             b"" if each % 8 == 0 else os.urandom(2000))
            for each, place in enumerate(places)
        ]  # fmt: skip


async def test_bundles_survive_one_kill_after_another(tmp_path: Path) -> None:
    chance = random.Random(11)
    clients: list[Client] = []
    member: dict[str, str] = {}
    for life in range(1, KILLS + 1):
        with serving(tmp_path / "data", "--sign-up", "open") as server:
            member = member or signed_up(server)
            clients = clients or [Client(f"c{number}", member) for number in range(SENDERS)]
            answered = threading.Event()
            options = [server, life, answered]
            threads = [threading.Thread(target=client.send_until_it_dies, args=options) for client in clients]
            for thread in threads:
                thread.start()
            if life % 2:  # However slow the machine is, there has to be something to lose.
                answered.wait(20)
            threading.Event().wait(chance.uniform(0.02, 0.3))
            server.kill()
            for thread in threads:
                thread.join()
    with serving(tmp_path / "data") as server:
        user_id = server.client.get("/api/v1/accounts/me", headers=member).json()["user_id"]
        for client in clients:
            client.send(server.client)
    acknowledged = {place: file_id for client in clients for place, file_id in client.acknowledged.items()}
    assert len(acknowledged) > KILLS * FILES
    async with running_satchel(
        tmp_path / "data", ManualClock(system_clock() + timedelta(days=2).total_seconds())
    ) as satchel:
        ann = satchel.caller()
        ann.user_id = user_id
        while await sweep_shelves(shelf_of(satchel)):
            pass
        files = await check_shelf(satchel, ann)
        assert {file.file_id for file in files} == set(acknowledged.values())
        assert {file.name for file in files} == {place.rpartition("/")[2] for place in acknowledged}
