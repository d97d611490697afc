"""Acts at one server on embedded stores, and at two behind nginx on DynamoDB Local, Redis and an S3 server."""

import itertools
import json
import os
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from datetime import timedelta
from typing import Any, TypeAlias

import aiohttp

from bench.figures import Figure, compare
from bench.processes import scratch_folder
from bench.rounds import Effort, Measure, in_turn, keep_busy
from bench.satchel_server import PASSWORD
from satchel.config import Settings
from satchel.edge.uploads.bundles import BUNDLE_TYPE
from satchel.kernel.clock import system_clock
from satchel.kernel.signature import Signer
from satchel.stores.connect import open_objects
from satchel.stores.ports.objects import DEFAULT_TYPE
from tests.fork_server import SATCHEL
from tests.server.cluster import cluster
from tests.server.process import serving
from tests.services import dynamodb_local
from tests.uploads.given import a_bundle

TASKS = 8
BODY = secrets.token_bytes(4096)
EMBEDDED, DISTRIBUTED, ALONE = "embedded", "distributed", "rclone alone"
_DOWN, _UP = "a file of 4 KiB down", "a file of 4 KiB up"
_OPTIONS = ("--sign-up", "open", "--log-level", "warning")
# DynamoDB Local compiles while it runs.
_WARM_UP_SECONDS = 8.0
_LIFE = timedelta(hours=1)

Acts: TypeAlias = Mapping[str, Callable[[int], Awaitable[object]]]


async def measure(effort: Effort) -> list[Figure]:
    with scratch_folder() as folder, ExitStack() as opened:
        one = opened.enter_context(serving(folder / "one", *_OPTIONS, program=SATCHEL))
        tables = opened.enter_context(dynamodb_local(compiles=True))
        several = opened.enter_context(cluster(folder / "several", *_OPTIONS, dynamodb=tables))
        async with (
            _somebody(one.url) as here,
            _somebody(several.front.url) as there,
            _bucket(several.settings) as alone,
        ):
            figures: list[Figure] = []
            for what in here:
                contestants = {EMBEDDED: _busy(here[what], effort), DISTRIBUTED: _busy(there[what], effort)}
                if what in alone:
                    contestants[ALONE] = _busy(alone[what], effort)
                await contestants[EMBEDDED]()
                await keep_busy(there[what], tasks=TASKS, seconds=min(_WARM_UP_SECONDS, 2 * effort.seconds))
                samples = await in_turn(f"acts, {what}", effort.rounds, contestants)
                figures.append(compare(what, "/s", samples, ours=DISTRIBUTED, peer=EMBEDDED))
                if what in alone:
                    figures.append(compare(what, "/s", samples, ours=DISTRIBUTED, peer=ALONE))
            return figures


@asynccontextmanager
async def _somebody(url: str) -> AsyncGenerator[Acts]:
    """What the first person does, whose clicks no limit holds back, and a stranger."""
    names = itertools.count()
    async with aiohttp.ClientSession(url) as http:

        async def ask(method: str, path: str, **request: Any) -> bytes:
            async with http.request(method, f"/api/v1{path}", **request) as answer:
                content = await answer.read()
                if answer.status >= 300:
                    raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
                return content

        person = {"email": "ann@example.org", "name": "Ann", "password": PASSWORD}
        tokens = json.loads(await ask("POST", "/accounts", json=person))["tokens"]
        as_ann = {"authorization": f"Bearer {tokens['access_token']}"}

        async def upload(_number: int) -> str:
            body = a_bundle(({"filename": f"{next(names)}.bin"}, BODY + secrets.token_bytes(8)), destination="shelf")
            headers = {**as_ann, "content-type": BUNDLE_TYPE}
            return json.loads(await ask("POST", "/uploads/bundle", data=body, headers=headers))["files"][0]["became"]

        file_id = await upload(0)
        link = {"thing": {"kind": "file", "id": file_id}}
        token = json.loads(await ask("POST", "/links", json=link, headers=as_ann))["token"]
        # Before anything else is there: a list of many is another act.
        yield {
            "the shelf listed": lambda _: ask("GET", "/shelf/entries", params={"limit": "20"}, headers=as_ann),
            _DOWN: lambda _: ask("GET", f"/shelf/files/{file_id}/content", headers=as_ann),
            "a link opened": lambda _: ask("GET", f"/open/{token}"),
            "a click": lambda _: ask("POST", "/clicks", json={}, headers=as_ann),
            _UP: upload,
        }


@asynccontextmanager
async def _bucket(settings: Mapping[str, str]) -> AsyncGenerator[Acts]:
    """The same bytes to and from the S3 server, by signed links."""
    chosen = Settings(objects=settings["SATCHEL_OBJECTS"])
    os.environ.update({name: settings[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")})
    objects = await open_objects(chosen, system_clock, Signer(secrets.token_bytes(32)))
    try:
        async with aiohttp.ClientSession() as http:
            # Not one for all: rclone refuses two that write the same object at once.
            puts = [await objects.sign_put(f"bench/{number}", _LIFE) for number in range(8 * TASKS)]
            get = await objects.sign_get("bench/0", _LIFE)

            async def up(number: int) -> None:
                link, headers = puts[number % len(puts)], {"content-type": DEFAULT_TYPE}
                async with http.put(link, data=BODY, headers=headers) as answer:
                    answer.raise_for_status()

            async def down(_number: int) -> None:
                async with http.get(get) as answer:
                    assert await answer.read() == BODY

            await up(0)
            yield {_UP: up, _DOWN: down}
    finally:
        await objects.close()


def _busy(act: Callable[[int], Awaitable[object]], effort: Effort) -> Measure:
    return lambda: keep_busy(act, tasks=TASKS, seconds=effort.seconds)
