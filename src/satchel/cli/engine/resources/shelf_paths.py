"""Find files and folders on a shelf by the paths that people type."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import quote

from satchel.cli.engine.api_types.shelf_types import EntryList, EntryView, HitList, HitView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused
from satchel.cli.engine.terminal.output import CommandFailed

TOP = "root"
# The folder for what was handed over from the shelf.
SENT = "Sent"
_PAGE = 1000


Entry: TypeAlias = EntryView | HitView


class NotThere(CommandFailed):
    """Nothing on the shelf has this path or name."""


@dataclass(slots=True)
class Places:
    """The shelf as one command sees it: every folder is asked for once."""

    client: Client
    _seen: dict[str, list[EntryView]] = field(default_factory=dict[str, list[EntryView]])
    _by_name: dict[str, dict[str, EntryView]] = field(default_factory=dict[str, dict[str, EntryView]])

    def entries(self, folder_id: str) -> list[EntryView]:
        """Folders first, then by name."""
        if folder_id not in self._seen:
            self._seen[folder_id] = list(self._pages(folder_id))
        return self._seen[folder_id]

    def named(self, folder_id: str, name: str) -> EntryView | None:
        """What has exactly this name in a folder."""
        if folder_id not in self._by_name:
            self._by_name[folder_id] = {entry.name: entry for entry in self.entries(folder_id)}
        return self._by_name[folder_id].get(name)

    def at(self, path: str) -> EntryView | None:
        """What stands at a path from the top; None if nothing does, or if it is the top itself."""
        folder_id, found = TOP, None
        for name in _parts(path):
            if found is not None and found.kind == "file":
                return None
            found = _named(self.entries(folder_id), name)
            if found is None:
                return None
            folder_id = found.id
        return found

    def wanted(self, path: str) -> Entry:
        """What stands at a path, or has this name wherever it stands; `CommandFailed` if that is none, or several."""
        if (found := self.at(path)) is not None:
            return found
        parts = _parts(path)
        if len(parts) != 1:
            raise NotThere(f"There is nothing at {path} on your shelf.")
        query = f"/shelf/search?q={quote(parts[0], safe='')}&limit={_PAGE}"
        matches = [each for each in self.client.call("GET", query, HitList).entries if each.name == parts[0]]
        if len(matches) > 1:
            places = ", ".join("/".join([*each.path, each.name]) for each in matches)
            raise CommandFailed(f"Several entries are called {path}: {places}. Give the path of one.")
        if not matches:
            raise NotThere(f"There is no {path} on your shelf. See `satchel ls`.")
        return matches[0]

    def wanted_or_made(self, path: str) -> Entry:
        """The same; where there is none, a new folder."""
        try:
            return self.wanted(path)
        except NotThere:
            *above, name = _parts(path) or [""]
            parent = self.at("/".join(above))
            if not name or (above and parent is None):
                raise
        return _make_folder(self.client, parent.id if parent else TOP, name)

    def _pages(self, folder_id: str) -> Iterator[EntryView]:
        where = f"/shelf/entries?folder={folder_id}&sort=name&limit={_PAGE}"
        cursor = ""
        while True:
            page = self.client.call("GET", where + cursor, EntryList)
            yield from page.entries
            if page.cursor is None:
                return
            cursor = f"&cursor={quote(page.cursor, safe='')}"


def folder_in(client: Client, above: str, name: str) -> EntryView:
    """The folder of this name in another one, made if missing."""
    found = next((each for each in Places(client).entries(above) if each.kind == "folder" and each.name == name), None)
    return found or _make_folder(client, above, name)


def changed(client: Client, entry: Entry, method: str, body: Mapping[str, object] | None = None) -> bool:
    """Change or delete an entry as we have seen it. False if it has changed on the shelf since, and stays as it is."""
    try:
        client.call(method, f"/shelf/{entry.kind}s/{entry.id}", object, body, headers={"If-Match": entry.etag})
    except Refused as refused:
        if refused.slug != "entry-changed":
            raise
        return False
    return True


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _named(entries: list[EntryView], name: str) -> EntryView | None:
    alike = [entry for entry in entries if entry.name.casefold() == name.casefold()]
    return next((entry for entry in alike if entry.name == name), alike[0] if alike else None)


def _make_folder(client: Client, above: str, name: str) -> EntryView:
    return client.make("/shelf/folders", EntryView, {"name": name, "folder_id": above})
