"""`satchel tables`: shows the tables that Satchel declares and makes those that are missing, on any table store."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from satchel.cli.engine.command.missing_tables import essential
from satchel.cli.engine.command.settings_options import Chosen, takes_settings
from satchel.cli.engine.terminal.output import Misused, paint, print_json, silence_logs, without_password
from satchel.config import Settings

if TYPE_CHECKING:
    from satchel.stores.ports.table import IndexSpec, KeyAttribute, TableSpec

# The stores are imported inside the functions, because `satchel --help` reads this file too.


@dataclass(frozen=True, slots=True)
class Seen:
    """A declared table, and what of it is not in the store, in words."""

    spec: "TableSpec"
    missing: list[str]


@takes_settings("data", "table", "table_prefix")
def tables(
    chosen: Chosen,
    action: Annotated[str, typer.Argument(metavar="show|create", hidden=True)] = "show",
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Show the tables that Satchel needs, or create missing ones.

    An embedded server makes its own tables. On DynamoDB run `satchel tables create` once before the first start, since
    tables can cost money there. Nothing is ever dropped or changed.
    """
    import asyncio

    if action not in ("show", "create"):
        raise Misused(
            f"Tables can be shown or created: `satchel tables show` or `satchel tables create`, not {action!r}."
        )
    silence_logs()
    settings = chosen.settings()
    if action == "create":
        made = asyncio.run(_create(settings))
        _print_made(made, settings, json=json)
    else:
        # Opening an SQLite file would make it, and looking should change nothing.
        url = urlsplit(settings.table_url)
        begun = url.scheme != "sqlite" or Path(url.path).exists()
        seen = asyncio.run(_look(settings)) if begun else _nothing_yet(settings)
        _print_seen(seen, settings, json=json)


def _nothing_yet(settings: Settings) -> list[Seen]:
    from satchel.tables import tables_for

    return [Seen(spec, [f"table {spec.name}"]) for spec in tables_for(has_one_writer=settings.has_one_writer)]


async def _look(settings: Settings) -> list[Seen]:
    from satchel.kernel.clock import system_clock
    from satchel.stores.connect import open_tables
    from satchel.tables import tables_for

    store = await open_tables(settings, system_clock)
    try:
        return [Seen(spec, await store.missing(spec)) for spec in tables_for(has_one_writer=settings.has_one_writer)]
    finally:
        await store.close()


async def _create(settings: Settings) -> list[str]:
    from satchel.kernel.clock import system_clock
    from satchel.stores.connect import open_tables, prepare_folder
    from satchel.tables import tables_for

    if settings.needs_data_folder and not settings.table:
        prepare_folder(settings.data)
    store = await open_tables(settings, system_clock)
    try:
        tables = tables_for(has_one_writer=settings.has_one_writer)
        made = await store.missing(*tables)
        await store.create(*tables)
        return made
    finally:
        await store.close()


def _print_made(made: list[str], settings: Settings, *, json: bool) -> None:
    store = without_password(settings.table_url)
    if json:
        print_json({"store": store, "prefix": settings.table_prefix, "made": made})
        return
    for words in essential(made):
        print(f"{paint('✓', 'good')} made {words}")
    print(f"All tables are there now, in {store}." if made else f"Nothing to make: all tables are there, in {store}.")


def _print_seen(seen: list[Seen], settings: Settings, *, json: bool) -> None:
    store = without_password(settings.table_url)
    if json:
        listed = [_as_json(each, settings.table_prefix) for each in seen]
        print_json({"store": store, "prefix": settings.table_prefix, "tables": listed})
        return
    print(f"Tables in {store}\n")
    for each in seen:
        _print_table(each, settings.table_prefix)
    incomplete = [each for each in seen if each.missing]
    if incomplete:
        print(paint(f"{len(incomplete)} of {len(seen)} tables are missing or not complete.", "bad"))
        by_itself = settings.has_one_writer
        print("A server makes them when it starts." if by_itself else "Make them with `satchel tables create`.")
    else:
        print(paint(f"All {len(seen)} tables are there.", "good"))


def _print_table(seen: Seen, prefix: str) -> None:
    spec = seen.spec
    mark = paint("✗", "bad") if seen.missing else paint("✓", "good")
    print(f"{mark} {paint(prefix + spec.name, 'strong')}")
    rows = [("key", _keys(spec.partition, spec.sort))]
    rows += [
        ("index", f"{index.name}: {_keys(index.partition, index.sort)}{_carried(index)}") for index in spec.indexes
    ]
    rows += [("expiry", f"at {spec.expiry}")] if spec.expiry else []
    rows += [("stream", "every change, in order")] if spec.stream else []
    rows += [("missing", words) for words in essential(seen.missing)]
    for name, value in rows:
        print(f"    {paint(name.ljust(8), 'bad' if name == 'missing' else 'quiet')}{value}")
    print()


def _keys(partition: "KeyAttribute", sort: "KeyAttribute | None") -> str:
    kinds = {"S": "", "N": " (number)", "B": " (bytes)"}
    return ", ".join(f"{key.name}{kinds[key.kind]}" for key in (partition, sort) if key is not None)


def _carried(index: "IndexSpec") -> str:
    match index.carries:
        case "everything":
            return ""
        case "keys":
            return "; keys only"
        case names:
            return f"; with {', '.join(names)}"


def _as_json(seen: Seen, prefix: str) -> dict[str, Any]:
    spec = seen.spec
    return {
        "name": prefix + spec.name,
        "key": _keys_as_json(spec.partition, spec.sort),
        "indexes": [
            {"name": index.name, "key": _keys_as_json(index.partition, index.sort), "carries": index.carries}
            for index in spec.indexes
        ],
        "expiry": spec.expiry,
        "stream": spec.stream,
        "missing": seen.missing,
    }


def _keys_as_json(partition: "KeyAttribute", sort: "KeyAttribute | None") -> list[dict[str, str]]:
    return [{"name": key.name, "kind": key.kind} for key in (partition, sort) if key is not None]
