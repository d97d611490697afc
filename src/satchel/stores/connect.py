"""Opens the three stores that the settings name. Only this module knows which vendor is behind each contract."""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from satchel.config import BadSetting, Settings
from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable
from satchel.kernel.signature import Signer
from satchel.stores.ports.bulk import BulkWrites
from satchel.stores.ports.ephemeral import Ephemeral
from satchel.stores.ports.objects import Objects
from satchel.stores.ports.table import Change, Tables
from satchel.stores.server_lock import locked

# The distributed stores are imported only when chosen: their libraries take longer to load than everything else.


@dataclass(frozen=True, slots=True)
class Stores:
    """The three stores of a running server; `bulk` writes into the tables where these have one writer."""

    tables: Tables
    ephemeral: Ephemeral
    objects: Objects
    bulk: BulkWrites | None = None


@asynccontextmanager
async def open_stores(
    settings: Settings,
    clock: Clock,
    signer: Signer,
    *,
    durable_keys: Sequence[str] = (),
    is_essential: Callable[[str], bool] = lambda _: True,
) -> AsyncGenerator[Stores]:
    """Open the stores that the settings name, for one server alone, and close them again.

    `durable_keys` are prefixes of short-lived state that must survive a restart. What is essential of it can be written
    when nearly all of its memory is taken.
    """
    async with AsyncExitStack() as opened:
        if settings.needs_data_folder:
            prepare_folder(settings.data)
            opened.enter_context(locked(settings.data / "lock", f"the data folder {settings.data}"))
            for path, what in _own_places(settings):
                opened.enter_context(locked(path, what))
        tables = await open_tables(settings, clock)
        opened.push_async_callback(tables.close)
        ephemeral = await open_ephemeral(settings, clock, durable_keys, is_essential)
        opened.push_async_callback(ephemeral.close)
        objects = await open_objects(settings, clock, signer)
        opened.push_async_callback(objects.close)
        yield Stores(tables, ephemeral, objects, bulk_of(tables))


async def open_tables(settings: Settings, clock: Clock) -> Tables:
    url = urlsplit(settings.table_url)
    if url.scheme == "sqlite":
        from satchel.stores.embedded.table_sqlite import SqliteTables

        return await SqliteTables.open(Path(url.path), clock=clock, prefix=settings.table_prefix)
    from satchel.stores.distributed.table_dynamodb import DynamoTables

    return await DynamoTables.open(
        url.netloc, endpoint=_option(url.query, "endpoint"), prefix=settings.table_prefix, clock=clock
    )


def bulk_of(tables: Tables) -> BulkWrites | None:
    from satchel.stores.embedded.table_sqlite import SqliteTables

    return tables.bulk if isinstance(tables, SqliteTables) else None


def changes_of_event(records: Sequence[Mapping[str, Any]]) -> list[Change]:
    """The changes in an event that DynamoDB sends to a Lambda function."""
    from satchel.stores.distributed.dynamodb_streams import change_of

    return [change_of(record) for record in records]


async def open_ephemeral(
    settings: Settings,
    clock: Clock,
    durable_keys: Sequence[str] = (),
    is_essential: Callable[[str], bool] = lambda _: True,
) -> Ephemeral:
    if settings.ephemeral.startswith("memory:"):
        from satchel.stores.embedded.ephemeral_memory import MAX_BYTES, MemoryEphemeral

        # Only the server that holds the lock on the folder may use this file.
        path = settings.data / "ephemeral.db" if durable_keys else None
        return await MemoryEphemeral.open(
            clock=clock,
            path=path,
            durable=durable_keys,
            max_bytes=settings.share(MAX_BYTES),
            is_essential=is_essential,
        )
    from satchel.stores.distributed.ephemeral_redis import RedisEphemeral

    return await RedisEphemeral.open(settings.ephemeral, prefix=settings.table_prefix)


async def open_objects(settings: Settings, clock: Clock, signer: Signer) -> Objects:
    url = urlsplit(settings.objects_url)
    if url.scheme == "file":
        from satchel.stores.embedded.objects_folder import FolderObjects

        return await FolderObjects.open(Path(url.path), clock=clock, signer=signer, base_url=settings.address)
    from satchel.stores.distributed.objects_s3 import S3Objects

    endpoint, public = _option(url.query, "endpoint"), _option(url.query, "public")
    return await S3Objects.open(
        url.netloc,
        region=_option(url.query, "region") or "us-east-1",
        endpoint=endpoint,
        public=public,
        # Whether others reach an endpoint of one's own, nobody knows but who says so.
        is_direct=settings.signed_links and (endpoint is None or public is not None),
    )


def prepare_folder(folder: Path, *, what: str = "data folder", setting: str = "--data") -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        reason = error.strerror or "unknown reason"
        raise Unavailable(
            f"The {what} {folder} cannot be created ({reason}). Choose another with {setting}, or fix its rights."
        ) from error


def _own_places(settings: Settings) -> Iterator[tuple[Path, str]]:
    """The locks of stores that only one server may use, whatever its data folder is."""
    tables, objects = urlsplit(settings.table_url), urlsplit(settings.objects_url)
    if tables.scheme == "sqlite":
        file = Path(tables.path).resolve()
        yield file.with_name(f"{file.name}.lock"), f"the tables in {file}"
    if objects.scheme == "file":
        folder = Path(objects.path).resolve()
        prepare_folder(folder, what="folder of objects", setting="--objects")
        yield folder / "lock", f"the objects in {folder}"


def _option(query: str, name: str) -> str | None:
    values = parse_qs(query, strict_parsing=bool(query)).get(name)
    if values is not None and len(values) > 1:
        raise BadSetting(f"The option {name} is given twice in a store's address.")
    return values[0] if values else None
