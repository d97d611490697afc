"""`satchel worker`: counts clicks and makes pictures beside the servers, where these share their stores."""

import asyncio
from typing import Annotated

import typer

from satchel.cli.engine.command.settings_options import Chosen, takes_settings
from satchel.cli.engine.terminal.numbers import whole_number

# What counts somebody's first click of a month takes, and what DynamoDB takes.
MIN_WRITES, MAX_WRITES = 10, 100


@takes_settings("data", "table", "table_prefix", "ephemeral", "objects", "clicks_kept", "log_format", "log_level")
def worker(
    chosen: Chosen,
    once: Annotated[bool, typer.Option("--once", help="Do what there is to do, then stop.")] = False,
    most_writes: Annotated[
        str, typer.Option(metavar="NUMBER", help="The most writes in one transaction; an old DynamoDB Local takes 10.")
    ] = str(MAX_WRITES),
) -> None:
    """Count clicks and make pictures as they come, where the tables are on DynamoDB; stop it with Ctrl-C.

    Run one beside your servers, with the same settings, or several to share the work. With SQLite the server does both
    by itself. Pictures need the servers' Redis and S3 as well.
    """
    most = whole_number("--most-writes", most_writes, least=MIN_WRITES, most=MAX_WRITES)
    settings = chosen.settings()
    # Imported here, so that the other verbs do not wait for the stores to load.
    from satchel.worker import run

    asyncio.run(run(settings, once=once, most_writes=most))
