"""The upload destination of links that ask for files: for anybody with a pass, with or without an account."""

import hashlib
from collections.abc import Mapping

from satchel.edge.http.callers import Guest
from satchel.edge.uploads.destinations import Announced, Arrived
from satchel.edge.uploads.refusals import UploadUnwanted
from satchel.features.links.model import LinkFull
from satchel.features.links.service import link_uploads
from satchel.features.links.service.context import Links
from satchel.kernel.errors import Gone, NotFound
from satchel.kernel.file_time import checked_time
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.ids import derived_id
from satchel.kernel.names import NAMELESS, kept_name, kept_path


class LinkDestination:
    """Receives uploads for the link whose token the metadata name as `link`, with the `pass` for it.

    `uploader` is the sender's name, if they give it. Their files go into a folder of that name, and in it into the
    folders of `relativePath`. For an album, the metadata are those of uploads of photos.
    """

    def __init__(self, links: Links) -> None:
        self._links = links

    def stranger_of(self, details: Mapping[str, str]) -> Guest:
        """The identity of a visitor without an account: their pass."""
        shown = hashlib.blake2b(details.get("pass", "").encode(), digest_size=16).hexdigest()
        return Guest(f"pass:{shown}", "")

    def place_of(self, announced: Announced) -> str:
        return announced.details.get("link", "")

    async def admit(self, announced: Announced) -> None:
        token, shown = announced.details.get("link", ""), announced.details.get("pass", "")
        checked_time(announced.details.get("modified", ""))
        await link_uploads.admit(self._links, token, shown, announced.size_bytes + announced.reserved_bytes)

    async def receive(self, arrived: Arrived) -> str:
        details = arrived.details
        folders = kept_path(details.get("relativePath", ""))[:-1]
        file = HandedFile(
            # Derived from the upload's id, which makes this idempotent. Not that id itself: others see the id of a
            # file, and with the id of a stranger's upload they could read its metadata, even the pass.
            file_id=derived_id(arrived.upload_id, "file"),
            name=kept_name(arrived.name) or NAMELESS,
            folder="/".join(folders),
            key=arrived.key,
            size_bytes=arrived.size_bytes,
            sha256=arrived.sha256,
            content_type=arrived.content_type,
            modified_at=checked_time(details.get("modified", "")),
            executable=bool(details.get("executable")),
        )
        token, shown = details.get("link", ""), details.get("pass", "")
        try:
            return await link_uploads.receive(self._links, token, shown, file, details)
        except (LinkFull, Gone, NotFound) as error:
            raise UploadUnwanted("This link no longer accepts files. The file was not saved.") from error
