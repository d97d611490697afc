"""Options that many verbs have."""

from typing import Annotated

import typer

Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="The server's address. Default: SATCHEL_SERVER, the last login's, or http://127.0.0.1:8400.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Limit = Annotated[str, typer.Option("--limit", metavar="NUMBER", help="How many at most.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON for machines, an object per line.")]
