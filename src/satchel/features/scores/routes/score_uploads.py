"""Where uploads of pages arrive: into a score that the sender may edit, or into a new one named after the file."""

import hashlib
import re
import uuid

from satchel.edge.http import callers
from satchel.edge.http.callers import Member
from satchel.edge.uploads.destinations import Announced, Arrived
from satchel.edge.uploads.refusals import UploadUnwanted
from satchel.features.scores.model import (
    MAX_TITLE,
    PAGES,
    Email,
    ItemId,
    NoPageFile,
    OwnerId,
    ScoreId,
    ScoresFull,
    ScoreUnknown,
    TooManyItems,
    TooManyPages,
    one_line,
    public_id,
    stored_id,
)
from satchel.features.scores.service import item_add, page_import, score_create, score_list
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.item_add import ItemUpload
from satchel.features.scores.service.score_create import NewScore
from satchel.features.scores.service.score_find import Viewer, find_score
from satchel.kernel.errors import Forbidden, Unauthenticated
from satchel.kernel.names import NAMELESS, clean_name
from satchel.kernel.unfit import ChoiceUnfit

_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_BETWEEN_WORDS = re.compile(r"[_\s]+")


class ScoreFileKind(UploadUnwanted):
    """The file is none of the kinds that a score can have. Nothing was stored."""

    status = 422
    slug = "score-file-kind"
    title = "This is no page of a score"


class ScoresDestination:
    """Receives pages from members who may edit a score.

    In the metadata, `score` is the id of the score; without it, a new score is made, with a title guessed from the
    name of the file. `page` is `append`, which lets a picture be the last page, or `none`, which only stores it.
    """

    def __init__(self, scores: Scores) -> None:
        self._scores = scores

    def place_of(self, announced: Announced) -> str:
        return announced.owner.user_id if isinstance(announced.owner, Member) else ""

    async def admit(self, announced: Announced) -> None:
        callers.admit(announced.owner, (Member,))
        if announced.details.get("page", "append") not in ("append", "none"):
            raise ChoiceUnfit("`page` must be `append` or `none`.", field="page")
        owner = await self._owner(announced)
        usage = await score_list.usage_of(self._scores, owner)
        most = self._scores.most_bytes
        if most and usage.size_bytes + announced.size_bytes + announced.reserved_bytes > most:
            raise ScoresFull("Your scores have no space left for this file. Delete items that you do not need.")

    async def receive(self, arrived: Arrived) -> str:
        """The id of the item; that of the score, if it is a new one."""
        try:
            owner = await self._owner(arrived)
        except (ScoreUnknown, Forbidden) as error:
            raise UploadUnwanted("You may not add to this score any more. The file was not saved.") from error
        score, is_new = arrived.details.get("score", ""), not arrived.details.get("score")
        if is_new:
            score = await self._new_score(owner, arrived)
        found = await find_score(self._scores, _viewer(arrived), score, "editor")
        upload = ItemUpload(
            item_id=ItemId(derived(arrived.upload_id, "item")),
            name=clean_name(arrived.name) or NAMELESS,
            key=arrived.key,
            size_bytes=arrived.size_bytes,
            sha256=arrived.sha256,
        )
        try:
            entry = await item_add.keep_item(self._scores, found.owner, found.score_id, upload)
            if entry.kind not in PAGES:
                await page_import.begin_import(self._scores, found.owner, found.score_id, entry)
            elif arrived.details.get("page", "append") == "append":
                await item_add.append_page(self._scores, found.owner, found.score_id, entry)
        except NoPageFile as error:
            raise ScoreFileKind(error.detail) from error
        except (TooManyItems, TooManyPages) as error:
            raise UploadUnwanted(error.detail) from error
        return score if is_new else public_id(entry.item_id)

    async def _owner(self, announced: Announced) -> OwnerId:
        """Whose space it takes."""
        viewer, score = _viewer(announced), announced.details.get("score", "")
        return (await find_score(self._scores, viewer, score, "editor")).owner if score else viewer.user_id

    async def _new_score(self, owner: OwnerId, arrived: Arrived) -> str:
        score_id = ScoreId(derived(arrived.upload_id, "score"))
        await score_create.create_as(self._scores, owner, score_id, NewScore(title=guessed_title(arrived.name)))
        return public_id(score_id)


def guessed_title(name: str) -> str:
    """Of a file's name: without its extension, and with spaces between its words."""
    words = one_line(_BETWEEN_WORDS.sub(" ", _EXTENSION.sub("", clean_name(name) or NAMELESS)))
    return words[:MAX_TITLE].strip() or NAMELESS


def derived(upload_id: str, part: str) -> str:
    """Always the same for an upload, which makes its end repeatable."""
    digest = hashlib.blake2b(f"{upload_id}/{part}".encode(), digest_size=16).digest()
    return stored_id(uuid.UUID(bytes=digest, version=4))


def _viewer(announced: Announced) -> Viewer:
    if not isinstance(announced.owner, Member):
        raise Unauthenticated("Sign in to keep scores.")
    return Viewer(OwnerId(announced.owner.user_id), Email(announced.owner.email))
