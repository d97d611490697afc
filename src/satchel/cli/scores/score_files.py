"""The stored files of a score: what each is for, saving all of them, and deleting those that are of no use."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from satchel.cli.engine.api_types.score_types import ScoreItemList, ScoreItemView, ScoreView
from satchel.cli.engine.files.export_save import save_export
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused

Use = Literal["shown on a page", "pages were made of it", "photo of a page", "unused", "kept by a snapshot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFile:
    """A stored file, and what has become of it now."""

    item_id: str
    name: str
    size_bytes: int
    use: Use
    saved_as: str = ""
    is_deleted: bool = False


def list_files(client: Client, score: ScoreView) -> list[ScoreFile]:
    items = client.call("GET", f"/scores/{score.score_id}/items", ScoreItemList).items
    shown = {page.item.item_id for page in score.pages if page.item is not None}
    sources = {each.item_id for each in score.imports}
    photos = {each.photo_id for each in items if each.item_id in shown}

    def use_of(item: ScoreItemView) -> Use:
        if item.item_id in shown:
            return "shown on a page"
        if item.item_id in sources:
            return "pages were made of it"
        return "photo of a page" if item.item_id in photos else "unused"

    return [
        ScoreFile(item_id=each.item_id, name=each.name, size_bytes=each.size_bytes, use=use_of(each)) for each in items
    ]


def save_files(client: Client, score: ScoreView, files: Sequence[ScoreFile], folder: str) -> list[ScoreFile]:
    """As they were added. One that is there already is not replaced: the other gets a number."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    saved: list[ScoreFile] = []
    for each in files:
        path, _ = save_export(client, f"/scores/{score.score_id}/items/{each.item_id}/content", folder, each.name)
        saved.append(replace(each, saved_as=str(path)))
    return saved


def delete_unused(client: Client, score: ScoreView, files: Sequence[ScoreFile]) -> list[ScoreFile]:
    """Those that a snapshot shows stay."""
    left: list[ScoreFile] = []
    for each in files:
        now = each
        if each.use == "unused":
            try:
                client.call("DELETE", f"/scores/{score.score_id}/items/{each.item_id}", type(None))
                now = replace(each, is_deleted=True)
            except Refused as refusal:
                if refusal.slug != "item-in-use":
                    raise
                now = replace(each, use="kept by a snapshot")
        left.append(now)
    return left
