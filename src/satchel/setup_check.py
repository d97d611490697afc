"""Whether settings and stores make a whole set-up: what a server refuses to start with, and `satchel doctor` tells.

Every check is a step that raises a `Flaw` if something is wrong. Most flaws refuse the set-up: it would lose or mix up
what people do. Others are warnings: it works until something dies.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from satchel.config import BadSetting, Settings
from satchel.kernel.clock import Clock
from satchel.kernel.errors import SatchelError, StoreRefused, Unavailable
from satchel.kernel.ids import new_id
from satchel.stores.connect import Stores
from satchel.stores.object_rules import direct_links
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.store_facts import TellsKeeping, TellsTime
from satchel.stores.ports.table import Check as Condition
from satchel.stores.ports.table import ConditionFailed, Tables
from satchel.tables import FORMAT, SELF_TEST, UNFINISHED_COPY

# Beyond this, tokens and leases of two servers end at different moments; and AWS refuses what is minutes off.
CLOCK_REFUSED = timedelta(seconds=30)
CLOCK_WARNED = timedelta(seconds=5)
_FORMAT_KEY = {"probe": "format of the tables"}

_log = logging.getLogger("satchel")


class Flaw(Exception):
    """Something is wrong with the set-up; the message says what, and `fix` what to do."""

    def __init__(self, wrong: str, fix: str, *, refused: bool = True) -> None:
        super().__init__(wrong)
        self.fix = fix
        self.refused = refused


@dataclass(frozen=True, slots=True)
class Check:
    """Something to try. It answers what is worth knowing, or raises a `Flaw`."""

    tried: str
    attempt: Callable[[], Awaitable[str | None]]


def check_settings(settings: Settings) -> str:
    """Raise a `Flaw` if the three stores do not go together."""
    if settings.has_one_writer:
        return "one server alone, since its tables are on this machine"
    if settings.shares_all_stores:
        return "any number of servers"
    if settings.single_server:
        return "one server alone, as single_server says"
    own = "rooms, sign-outs and limits" if settings.ephemeral.startswith("memory:") else "files"
    missing = "ephemeral" if settings.ephemeral.startswith("memory:") else "objects"
    example = {"ephemeral": "redis://host:6379/0", "objects": "s3://bucket"}[missing]
    raise Flaw(
        f"Servers share tables on DynamoDB, but not the {missing} store: {own} of one would be unknown to the others.",
        f"Give --{missing} {example}, or --single-server if no other server will ever use these tables.",
    )


def table_checks(settings: Settings, tables: Tables) -> list[Check]:
    async def transact() -> str:
        writes = [
            Condition(SELF_TEST, {"probe": f"absent/{number}"}, attr("probe").absent())
            for number in range(settings.most_writes)
        ]
        try:
            await tables.transact(writes)
        except StoreRefused as error:
            raise Flaw(
                f"The table store takes no transaction of {settings.most_writes} writes, which many acts need.",
                "Use DynamoDB, or a newer DynamoDB Local. To try things out with this one, give --most-writes 10: then"
                " acts go in smaller steps, and the few that cannot are refused.",
            ) from error
        return f"{settings.most_writes} writes"

    async def be_whole() -> None:
        if await tables.get(SELF_TEST, UNFINISHED_COPY) is not None:
            raise Flaw(
                "These tables are a copy that is not finished: files or counts may be missing.",
                "Run `satchel data copy` again, with --finish, after the servers of the source have stopped.",
            )

    async def know_format() -> str:
        found = await tables.get(SELF_TEST, _FORMAT_KEY)
        stored = FORMAT if found is None else int(found["format"])
        if stored > FORMAT:
            raise Flaw(
                f"A newer Satchel has written to these tables: their format is {stored}, and this one knows {FORMAT}.",
                "Upgrade this server, or give it other tables.",
            )
        return f"format {stored}"

    return [
        Check("transact as much as acts need", transact),
        Check("know the format of the tables", know_format),
        Check("be no unfinished copy", be_whole),
    ]


def ephemeral_checks(store: object) -> list[Check]:
    if not isinstance(store, TellsKeeping):
        return []

    async def survive() -> None:
        if (await store.keeping()).survives_restart is False:
            raise Flaw(
                "Redis keeps nothing over a restart: rooms would be gone, and tokens that were signed out good again.",
                "Set `appendonly yes` in its configuration, or give it a replica.",
                refused=False,
            )

    async def evict_nothing() -> str | None:
        policy = (await store.keeping()).eviction
        if policy not in (None, "noeviction"):
            raise Flaw(
                f"When its memory is full, Redis deletes keys that are still needed: its policy is {policy}.",
                "Set `maxmemory-policy noeviction` in its configuration. Then it refuses, and people are told.",
                refused=False,
            )
        return policy

    return [Check("keep short-lived state over a restart", survive), Check("evict nothing", evict_nothing)]


def clock_check(clock: Clock, name: str, store: object) -> list[Check]:
    if not isinstance(store, TellsTime):
        return []

    async def agree() -> str | None:
        before = clock()
        there = await store.time()
        if there is None:
            return "it does not tell its time"
        # It told a whole second, at some moment between the question and the answer.
        off = timedelta(seconds=max(before - (there + 1), there - clock(), 0.0))
        if off > CLOCK_WARNED:
            raise Flaw(
                f"The clocks of this machine and of the {name} store are {off.total_seconds():.0f} seconds apart.",
                "Let both keep time by NTP.",
                refused=off > CLOCK_REFUSED,
            )
        return None

    return [Check(f"agree with the clock of the {name} store", agree)]


def bucket_checks(settings: Settings, objects: Objects, clock: Clock) -> list[Check]:
    """The rights that a server needs of a bucket, tried in a folder of its own."""
    if settings.objects_url.startswith("file:"):
        return []
    folder = f"doctor/{new_id(clock)}"
    key, joined = f"{folder}/rights", f"{folder}/parts"

    async def attempt() -> None:
        upload = ""
        try:
            await objects.put(key, _bytes(b"Satchel was here."), length=17)
            async with objects.read(key) as reading:
                await anext(aiter(reading))
            await objects.list(f"{folder}/")
            upload = await objects.begin(joined)
            await objects.put_part(joined, upload, 1, _bytes(b"part"), length=4)
            await objects.parts(joined, upload)
            await objects.abort(joined, upload)
            await objects.delete(key)
        except SatchelError as error:
            with suppress(SatchelError):
                await objects.abort(joined, upload)
                await objects.delete(key)
            raise Flaw(
                f"The bucket cannot be used as a server needs it. {error.detail}",
                "Its keys need PutObject, GetObject, DeleteObject, ListBucket, AbortMultipartUpload and"
                " ListMultipartUploadParts.",
            ) from error

    return [Check("put, get, list, delete, and upload in parts", attempt)]


def page_checks(settings: Settings, objects: Objects) -> list[Check]:
    """Whether browsers can send to the bucket as they are told to. Where not, they send through the server."""
    direct = direct_links(objects)
    if direct is None or not settings.public_url:
        return []

    async def send() -> str:
        if not await direct.lets_send(settings.public_url):
            raise Flaw(
                f"Pages of {settings.public_url} may not send to {direct.origin}: large uploads go through the server.",
                "Allow PUT from that origin in the CORS rules of the bucket, and name in `public=` an address of it"
                " that browsers reach. Or keep all bytes in the server with --no-signed-links.",
                refused=False,
            )
        return direct.origin

    return [Check("let pages send to the bucket", send)]


async def _bytes(content: bytes) -> AsyncIterator[bytes]:
    yield content


def store_checks(settings: Settings, stores: Stores, clock: Clock) -> list[Check]:
    """Everything that depends on the stores as they are."""
    return [
        *table_checks(settings, stores.tables),
        *ephemeral_checks(stores.ephemeral),
        *bucket_checks(settings, stores.objects, clock),
        *page_checks(settings, stores.objects),
        *clock_check(clock, "table", stores.tables),
        *clock_check(clock, "ephemeral", stores.ephemeral),
        *clock_check(clock, "objects", stores.objects),
    ]


def refuse_settings(settings: Settings) -> None:
    """Raise `BadSetting` if the stores do not go together."""
    try:
        check_settings(settings)
    except Flaw as flaw:
        raise BadSetting(f"{flaw} {flaw.fix}") from flaw


async def refuse_flaws(checks: Sequence[Check]) -> None:
    """Raise `Unavailable` for what refuses the set-up, and log what is a warning."""
    for check in checks:
        try:
            await check.attempt()
        except Flaw as flaw:
            if flaw.refused:
                raise Unavailable(f"{flaw} {flaw.fix}") from flaw
            _log.warning("%s %s", flaw, flaw.fix)


async def note_format(tables: Tables) -> None:
    """Say in the tables which format they have from now on, so that an older Satchel leaves them alone."""
    item = {**_FORMAT_KEY, "format": FORMAT}
    if await tables.get(SELF_TEST, _FORMAT_KEY) != item:
        with suppress(ConditionFailed):  # a newer server was faster, which the next start will notice
            await tables.put(SELF_TEST, item, when=attr("format").absent() | (attr("format") < FORMAT))
