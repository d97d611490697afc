"""What use cases need that touch the bytes of photos, besides what all of albums need."""

from dataclasses import dataclass

from satchel.features.albums.needs import Shelves
from satchel.features.albums.service.context import Albums
from satchel.media.metadata_reader import MetadataReader
from satchel.media.pictures import Pictures
from satchel.stores.ports.objects import Objects


@dataclass(frozen=True, slots=True, kw_only=True)
class Photos:
    """Albums, shelves, the store of bytes, the process that reads metadata, and pictures."""

    albums: Albums
    shelves: Shelves
    objects: Objects
    reader: MetadataReader
    pictures: Pictures
