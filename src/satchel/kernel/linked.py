"""What a link leads to, so that the slices that have things and the one that gives links speak of them alike."""

from dataclasses import dataclass

from satchel.kernel.handed_file import HandedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedThing:
    """A thing as whoever has a link to it may know it: `file_id` if it is one file, `goto` if it is a page of the app.

    How many files a folder has, and how large they are together, is known only where it was counted.
    """

    name: str
    content_type: str | None = None
    size_bytes: int | None = None
    files: int | None = None
    file_id: str | None = None
    goto: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedFile(HandedFile):
    """One of the files that a link leads to; its `folder` begins below the thing that the link is for."""

    at: str

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}" if self.folder else self.name


@dataclass(frozen=True, slots=True)
class LinkedFiles:
    """Some of the files of a thing, and where to go on."""

    files: list[LinkedFile]
    cursor: str | None
