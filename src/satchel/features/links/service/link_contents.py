"""Finds what a visitor downloads or views, and counts each view once."""

from collections.abc import Sequence

from satchel.features.links.model import MAX_ID_CHARACTERS, NoOutline
from satchel.features.links.records import SEEN, LinkRow
from satchel.features.links.service.context import Links
from satchel.features.links.service.link_enter import Visit, has_files, list_files
from satchel.features.links.service.passes import LIFETIME
from satchel.features.links.service.visit_count import count
from satchel.kernel.errors import NotFound
from satchel.kernel.linked import Followed, LinkedFile, OutlinedThings, WantedLayout
from satchel.kernel.patches import Patch
from satchel.stores.ports.ephemeral import Put


async def find_file(links: Links, visit: Visit, file_id: str) -> LinkedFile:
    """One of the files that are in the shared thing now."""
    link, known = visit.link, has_files(visit.link) and 0 < len(file_id) <= MAX_ID_CHARACTERS
    file = await links.things[link.kind].file(link.owner_id, link.thing_id, file_id) if known else None
    if file is None:
        raise NotFound("This link has no such file.")
    return file


async def find_only_file(links: Links, visit: Visit) -> LinkedFile:
    if visit.thing.file_id is None:
        raise NotFound("This link leads to a folder. Download its files one by one, or all as an archive.")
    return await find_file(links, visit, visit.thing.file_id)


async def outline_of(links: Links, visit: Visit) -> object:
    """What the viewer of the thing shows."""
    things = links.things[visit.link.kind]
    found = None
    if isinstance(things, OutlinedThings):
        found = await things.outline(visit.link.owner_id, visit.link.thing_id)
    if found is None:
        raise NoOutline("This link leads to files. List them instead.")
    return found


async def layout_of(links: Links, visit: Visit, wanted: WantedLayout, address: str) -> object:
    """The same, laid out as a visitor wants it."""
    things = links.things[visit.link.kind]
    found = None
    if isinstance(things, OutlinedThings):
        found = await things.layout(visit.link.owner_id, visit.link.thing_id, wanted, address)
    if found is None:
        raise NoOutline("What this link leads to cannot be laid out anew.")
    return found


async def followed_by(links: Links, visit: Visit) -> Followed:
    """What the viewer of the thing follows live."""
    things = links.things[visit.link.kind]
    found = None
    if isinstance(things, OutlinedThings):
        found = await things.followed(visit.link.owner_id, visit.link.thing_id)
    if found is None:
        raise NoOutline("What this link leads to does not change while you look at it.")
    return found


async def playback_of(links: Links, visit: Visit, address: str) -> object:
    """What the viewer of the thing plays."""
    things = links.things[visit.link.kind]
    found = None
    if isinstance(things, OutlinedThings):
        found = await things.playback(visit.link.owner_id, visit.link.thing_id, address)
    if found is None:
        raise NoOutline("What this link leads to cannot be played.")
    return found


async def patches_of(file: LinkedFile) -> Sequence[Patch]:
    """What changes in its bytes before a visitor gets them. It may be refused."""
    return () if file.patches is None else await file.patches()


async def size_of_all(links: Links, visit: Visit) -> int | None:
    """The size of all files together, if that is fast to compute."""
    link = visit.link
    thing = await links.things[link.kind].describe(link.owner_id, link.thing_id, counted=True)
    return None if thing is None else thing.size_bytes


async def size_of_every_file(links: Links, visit: Visit) -> int:
    """The exact size, however long it takes."""
    size_bytes, cursor = 0, None
    while True:
        page = await list_files(links, visit.link, cursor)
        size_bytes += sum(file.size_bytes for file in page.files)
        if (cursor := page.cursor) is None:
            return size_bytes


def can_look(link: LinkRow) -> bool:
    """Whether there is a preview. With a download limit there is none: a preview would be an uncounted download."""
    return not link.downloads_limit


def counted_thing(link: LinkRow, file: LinkedFile) -> str:
    """What the use of a file counts for: what the link leads to, and a photo on its own as well."""
    return link.thing if file.photo is None else f"{link.thing}/photo:{file.file_id}"


async def count_view(links: Links, visit: Visit, file: LinkedFile) -> None:
    """Count a view once per pass and file, however many ranges of a film are requested."""
    key = SEEN(link_id=visit.link.link_id, visit=visit.pass_id or visit.visitor_id, file_id=file.file_id)
    if await links.ephemeral.run(Put(key, b"1", ttl=LIFETIME, only_if_absent=True)):
        await count(links, visit.link, visit.visitor_id, "view", counted_thing(visit.link, file), address=visit.address)
