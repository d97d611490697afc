"""Finds the sidecars of photos among the names in a folder: XMP of other programs, and JSON of Google Takeout."""

from collections.abc import Iterable

from satchel.media.metadata.takeout_json import TakeoutNames

_XMP = ".xmp"


class Sidecars:
    """The sidecars in one folder. Case does not count in the names of XMP files: cameras shout, programs do not."""

    def __init__(self, names: Iterable[str]) -> None:
        names = list(names)
        self._takeout = TakeoutNames(names)
        self._xmp = {name.casefold(): name for name in names if name.casefold().endswith(_XMP)}

    def of(self, name: str) -> list[str]:
        """The sidecars of a photo, at most one of each kind: `IMG_1.JPG.xmp` before `IMG_1.xmp`."""
        stem = name.rpartition(".")[0] or name
        xmp = self._xmp.get(f"{name}{_XMP}".casefold()) or self._xmp.get(f"{stem}{_XMP}".casefold())
        json = self._takeout.find(name)
        return [found for found in (xmp, json) if found is not None]
