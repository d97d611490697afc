"""The versions of one file: list, download, restore, delete."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from satchel.cli.engine.api_types.shelf_types import EntryView, VersionList, VersionView
from satchel.cli.engine.files.batch import fetch_all
from satchel.cli.engine.files.download import Wanted, own_name
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.shelf_paths import Entry, Places
from satchel.cli.engine.terminal.output import CommandFailed, paint
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment

# As much of the end of an id as tells the versions of a file apart.
_SHORT_ID = 6


@dataclass(frozen=True, slots=True)
class FileVersions:
    """A file on the shelf and what it was."""

    client: Client
    file: Entry
    versions: list[VersionView]

    @staticmethod
    def of(client: Client, path: str) -> "FileVersions":
        file = Places(client).wanted(path)
        if file.kind != "file":
            raise CommandFailed(f"{path} is a folder. Versions are of files.")
        found = client.call("GET", f"/shelf/files/{file.id}/versions", VersionList)
        return FileVersions(client, file, found.versions)

    def restore(self, typed: str) -> str:
        version = self._find(typed)
        self.client.call("POST", f"{self._address(version)}/restore", EntryView)
        return f"{self.file.name} is what it was until {shown_moment(version.replaced_at)}."

    def get(self, typed: str) -> str:
        version = self._find(typed)
        target = Path(own_name(self.file.name))
        wanted = Wanted(
            f"{self._address(version)}/content",
            version.size_bytes,
            version.sha256,
            target,
            called=self.file.name,
            modified_at=version.modified_at,
            executable=version.executable,
        )
        if not fetch_all(self.client, [wanted], as_json=False, quiet=True):
            raise CommandFailed("The version was not downloaded. Run the same command again.")
        return f"The version of {shown_moment(version.replaced_at)} was fetched."

    def delete(self, typed: str) -> str:
        version = self._find(typed)
        self.client.call("DELETE", self._address(version), type(None))
        return f"The version of {shown_moment(version.replaced_at)} was deleted."

    def as_builtins(self) -> Any:
        return to_builtins({"versions": self.versions})

    def _find(self, typed: str) -> VersionView:
        wanted = typed.strip().lower()
        found = [each for each in self.versions if wanted and each.version_id.endswith(wanted)]
        if len(found) != 1:
            many = f"Several versions end with {typed}. Give more of the id."
            none = f"{self.file.name} has no version {typed}. See `satchel versions`."
            raise CommandFailed(many if found else none)
        return found[0]

    def _address(self, version: VersionView) -> str:
        return f"/shelf/files/{self.file.id}/versions/{version.version_id}"


def lines(versions: Sequence[VersionView]) -> Iterator[str]:
    if not versions:
        yield "There are no earlier versions."
    for version in versions:
        until = paint(f"until {shown_moment(version.replaced_at)}", "quiet")
        kept = paint(f"kept until {shown_moment(version.gone_at)}", "quiet")
        yield f"{version.version_id[-_SHORT_ID:]}  {shown_bytes(version.size_bytes):>7}  {until}  {kept}"
