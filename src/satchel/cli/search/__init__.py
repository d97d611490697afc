"""`satchel search`: find files, albums, scores, rooms, links and people by words."""

from typing import Annotated

import typer

from satchel.cli.engine.command.common_options import Json, Server
from satchel.cli.engine.terminal.output import print_json, printable

# As in `account`, what takes long to load is imported inside the verb.


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORD", help="Words that have to be there.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="How many of each kind are enough.")] = 8,
    server: Server = None,
    json: Json = False,
) -> None:
    """Find files, albums, scores, rooms and links by words of their names.

    Case, accents, the width of letters and the kind of kana do not matter. Administrators find people as well.
    """
    from urllib.parse import quote

    from msgspec.structs import asdict

    from satchel.cli.engine.api_types.search_types import SearchHits
    from satchel.cli.engine.http.client import open_client
    from satchel.cli.engine.terminal.output import note, paint

    with open_client(server) as client:
        answer = client.call("GET", f"/search?q={quote(' '.join(words))}&limit={limit}", SearchHits)
    if json:
        print_json({"hits": [asdict(hit) for hit in answer.hits], "partial": answer.partial})
        return
    for hit in answer.hits:
        print(f"{hit.kind:<8}  {printable(hit.name)}  {paint(printable(hit.detail), 'quiet')}".rstrip())
    if not answer.hits:
        note("Nothing found.")
    if answer.partial:
        note("Not everything could be looked at. Use more words.")
