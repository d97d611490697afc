"""Decide as what a file may be shown, by looking at its first bytes."""

from dataclasses import dataclass

from satchel.features.shelf.model import NoPreview
from satchel.features.shelf.previews import HEAD_BYTES, MAX_TEXT_BYTES, preview_of, shown_type
from satchel.features.shelf.records import FileRow, object_key
from satchel.features.shelf.service.context import Shelf


@dataclass(frozen=True, slots=True)
class Shown:
    """The type to show a file as; of text also the text, as UTF-8 whatever it was."""

    content_type: str
    text: bytes | None = None


async def show(shelf: Shelf, file: FileRow) -> Shown:
    wanted = preview_of(file.name, file.content_type)
    if wanted is None:
        raise NoPreview("Files of this type cannot be shown here. Download it instead.")
    start = await _beginning(shelf, file, MAX_TEXT_BYTES if wanted == "text" else HEAD_BYTES)
    content_type = shown_type(wanted, start[:HEAD_BYTES])
    if content_type is None:
        raise NoPreview("The file is not what its type says. Download it instead.")
    # What is cut off in the middle of a letter shows as one mark, like every byte that is no text.
    text = start.decode(errors="replace").encode() if wanted == "text" else None
    return Shown(content_type, text)


async def _beginning(shelf: Shelf, file: FileRow, length: int) -> bytes:
    async with shelf.objects.read(object_key(file), length=length) as reading:
        return b"".join([piece async for piece in reading])
