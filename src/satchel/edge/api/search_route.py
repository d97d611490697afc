"""One search over everything: each slice finds its own things, and this puts them together."""

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec

from satchel.edge.api.endpoints import Query, Router
from satchel.edge.http.callers import Member
from satchel.kernel.searched import FoundKind, Searchable, Seeker, Words

MAX_OF_A_SLICE = 50


class SearchQuery(Query, frozen=True, kw_only=True):
    """Words that have to be there, each of them somewhere; and how many results of a slice are enough."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_OF_A_SLICE)] = 8


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """Something of yours, or that others share with you. A file and a folder have the folder that they are in."""

    kind: FoundKind
    id: str
    name: str
    detail: str
    folder_id: str | None


class SearchHits(msgspec.Struct, frozen=True, kw_only=True):
    """The results, those of a slice together. `partial` if not everything could be looked at."""

    hits: list[SearchHit]
    partial: bool


def routes(searches: Sequence[Searchable]) -> Router:
    router = Router("search")

    @router.get("/search")
    async def search_everything(member: Member, query: SearchQuery) -> SearchHits:
        """Search files, folders, albums, scores, rooms and links by words. Case, accents and width do not matter.

        Administrators find people as well.
        """
        words = Words.of(query.q)
        seeker = Seeker(member.user_id, member.email, member.admin)
        answers = await asyncio.gather(*(each.find(seeker, words, query.limit) for each in searches))
        hits = [
            SearchHit(kind=each.kind, id=each.id, name=each.name, detail=each.detail, folder_id=each.within or None)
            for answer in answers
            for each in answer.found[: query.limit]
        ]
        return SearchHits(hits=hits, partial=any(each.partial for each in answers))

    return router
