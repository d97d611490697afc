"""The picture by which a link is known in a chat: that of its first file that has one."""

from dataclasses import dataclass

from satchel.features.links.service.context import Links
from satchel.features.links.service.link_contents import can_look
from satchel.features.links.service.link_enter import has_files, list_files
from satchel.features.links.service.link_open import Landing
from satchel.kernel.linked import LinkedFile


@dataclass(frozen=True, slots=True)
class Cover:
    """A file, and the version of its picture."""

    file: LinkedFile
    version: str


async def find_cover(links: Links, found: Landing) -> Cover | None:
    """None before the password, with a limit of downloads, and where nothing has a picture."""
    link = found.link
    if found.thing is None or not can_look(link) or not has_files(link):
        return None
    listed = (await list_files(links, link, None)).files
    pictures = await links.pictures.describe([file for file in listed if file.photo is None])
    for file in listed:
        known = file.photo or pictures.get(file.key)
        if known is not None and known.version is not None:
            return Cover(file, known.version)
    return None
