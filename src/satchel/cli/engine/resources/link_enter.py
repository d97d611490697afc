"""Open a link that somebody gave you, with its password if it has one, and list its files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from satchel.cli.engine.api_types.link_types import EnteredView, LandingView, LinkedFileList, LinkedFileView
from satchel.cli.engine.files.download import MadeFolders, Wanted, local_name, local_path
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused
from satchel.cli.engine.resources.link_password import given_password, typed_password
from satchel.cli.engine.terminal.output import CommandFailed, note, printable

_TRIES = 3


@dataclass(frozen=True, slots=True)
class Visit:
    """A link that has let us in."""

    client: Client
    token: str
    landing: LandingView
    entered: EnteredView

    @property
    def shown(self) -> str:
        """The pass."""
        return self.entered.pass_

    def pages(self) -> Iterator[LinkedFileList]:
        page = self.entered.listing
        while page is not None:
            yield page
            if page.cursor is None:
                return
            where = f"{_at(self.token)}/files?pass={quote(self.shown)}&cursor={quote(page.cursor, safe='')}"
            page = self.client.call("GET", where, LinkedFileList)

    def plan(self, folder: Path, made: MadeFolders) -> list[Wanted]:
        """What to fetch. Makes the folders in which the files will stand."""
        is_folder = self.landing.kind in ("folder", "selection", "album", "photos")
        top = folder / local_name(self.landing.name or "") if is_folder else folder
        # Taken whole, a folder is one download, however many files it has.
        shown = f"pass={quote(self.shown)}" + ("&whole=true" if is_folder else "")
        wanted: list[Wanted] = []
        for page in self.pages():
            for each in page.folders:
                made.make(top / local_path(each.path) if each.path else top, each.modified_at)
            for file in page.files:
                target = top / local_path(file.path)
                made.make(target.parent)
                wanted.append(self._wanted(file, target, shown))
        return wanted

    def _wanted(self, file: LinkedFileView, target: Path, shown: str) -> Wanted:
        return Wanted(
            f"{_at(self.token)}/files/{file.file_id}/content?{shown}",
            file.size_bytes,
            file.sha256,
            target,
            {"file_id": file.file_id},
            called=file.path,
            modified_at=file.modified_at,
            executable=file.executable,
        )


def visit(client: Client, token: str, *kinds: str) -> Visit:
    """Enter a link that is for something of these kinds, which counts as one opening."""
    landing = client.call("GET", _at(token), LandingView)
    if landing.kind not in kinds:
        raise CommandFailed(_otherwise(client, token, landing))
    entered = _enter(client, token, landing)
    if landing.needs_password:
        # Only now we may know its name.
        landing = client.call("GET", f"{_at(token)}?pass={quote(entered.pass_)}", LandingView)
    return Visit(client, token, landing, entered)


def _enter(client: Client, token: str, landing: LandingView) -> EnteredView:
    if not landing.needs_password:
        return _try(client, token, None)
    if password := given_password():
        return _try(client, token, password)
    question = printable(f"Password of the link from {landing.shared_by}")
    for left in reversed(range(_TRIES)):
        try:
            return _try(client, token, typed_password(question))
        except Refused as refusal:
            if refusal.slug != "link-password-wrong" or not left:
                raise
            note(str(refusal))
            question = "Password again"
    raise AssertionError("the last try raises")


def _try(client: Client, token: str, password: str | None) -> EnteredView:
    return client.make(f"{_at(token)}/enter", EnteredView, {"password": password})


def _otherwise(client: Client, token: str, landing: LandingView) -> str:
    """What to do with a link that is for something else."""
    address = f"{client.server}/l/{token}"
    if landing.kind == "request":
        return f"This link asks for files. Send some with `satchel put FILE --link {address}`."
    if landing.kind == "room":
        code = (_enter(client, token, landing).goto or "").rpartition("/")[2]
        return f"This link leads to a room. Join it with `satchel room join {code} --server {client.server}`."
    if landing.kind == "score":
        return f"This link leads to sheet music. Open it in a browser: {address}"
    return f"This link offers files. Get them with `satchel get {address}`."


def _at(token: str) -> str:
    return f"/open/{token}"
