"""Where everything is kept, and how much of it: what administrators see of storage."""

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from satchel.config import Settings
from satchel.features.accounts.model import StoreKinds
from satchel.features.accounts.needs import Usage, Usages


@dataclass(frozen=True, slots=True)
class Disk:
    """How much the disk of the objects can hold, and how much of that is free."""

    capacity_bytes: int
    free_bytes: int


class Storage:
    """The kinds of the three stores, what people keep, and the disk if there is one."""

    def __init__(self, settings: Settings, usages: Usages) -> None:
        self._usages = usages
        place = urlsplit(settings.objects_url)
        self._folder = Path(place.path) if place.scheme == "file" else None
        self.kinds = StoreKinds(
            table=urlsplit(settings.table_url).scheme,
            ephemeral="memory" if settings.ephemeral.startswith("memory:") else "redis",
            objects="folder" if self._folder else place.scheme,
        )

    async def usage_of(self, user_ids: Sequence[str]) -> Sequence[Usage]:
        return await self._usages.usage_of(user_ids)

    async def room(self) -> Disk | None:
        if self._folder is None:
            return None
        disk = await asyncio.to_thread(shutil.disk_usage, self._folder)
        return Disk(disk.total, disk.free)
