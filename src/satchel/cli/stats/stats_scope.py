"""The scope of figures: everything that you share, a link, an album, a thing on the shelf, or the whole server."""

from dataclasses import dataclass

from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import find_album
from satchel.cli.engine.resources.link_address import is_address
from satchel.cli.engine.resources.link_find import matching, only
from satchel.cli.engine.resources.shelf_paths import Places
from satchel.cli.engine.terminal.output import CommandFailed

MINE, SITE = "mine", "site"


@dataclass(frozen=True, slots=True)
class Scope:
    """As the API takes it, and as people call it."""

    written: str
    title: str


def scope_of(client: Client, typed: str) -> Scope:
    """What was typed, whether as a scope, an album, a link or a path of the shelf."""
    if typed == MINE:
        return Scope(MINE, "All that you share")
    if typed == SITE:
        return Scope(SITE, "Everything on this server")
    if typed.startswith("album:"):
        album = find_album(client, typed.removeprefix("album:"))
        return Scope(f"thing:album:{album.album_id}", album.name)
    if typed.startswith("counter:"):
        return Scope(typed, "What your page counted")
    if typed.startswith(("link:", "thing:")):
        return Scope(typed, typed)
    # The name of a file can look like the end of an id, but few people have a link and a file that do.
    if (found := matching(client, typed)) or is_address(typed):
        link = only(found, typed)
        return Scope(f"link:{link.link_id}", f"The link to {link.name or link.thing.name}")
    try:
        entry = Places(client).wanted(typed)
    except CommandFailed as error:
        raise CommandFailed(
            f"{error} Give a link, a path of your shelf, {MINE}, or, as an administrator, {SITE}."
        ) from error
    return Scope(f"thing:{entry.kind}:{entry.id}", entry.name)
