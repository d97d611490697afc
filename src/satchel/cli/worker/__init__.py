"""`satchel worker`: counts clicks and makes pictures beside the servers, where these share their stores."""

import asyncio
from typing import Annotated

import typer

from satchel.cli.engine.command.settings_options import Chosen, takes_settings


@takes_settings(
    "data", "table", "table_prefix", "most_writes", "ephemeral", "objects", "clicks_kept", "log_format", "log_level"
)
def worker(
    chosen: Chosen,
    once: Annotated[bool, typer.Option("--once", help="Do what there is to do, then stop.")] = False,
) -> None:
    """Count clicks and make pictures as they come, where the tables are on DynamoDB; stop it with Ctrl-C.

    Run one beside your servers, with the same settings, or several to share the work. With SQLite the server does both
    by itself. Pictures need the servers' Redis and S3 as well.
    """
    settings = chosen.settings()
    # Imported here, so that the other verbs do not wait for the stores to load.
    from satchel.worker import run

    asyncio.run(run(settings, once=once))
