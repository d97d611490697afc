"""The rules of grants, as pure functions: when an answer takes a place, when a download is whole, what is abandoned.

A place is worth the size of the file. It is used up when every byte of the file has gone out. Until then its visitor
may go on or begin anew. Answers that came to their end count against the place, and half as much again is free for what
was lost on the way. Answers that were cut off count only after eight times the file went out in vain.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from satchel.features.links.model import LinkUsedUp
from satchel.features.links.records import Answer, GrantPartRow, GrantRow, LinkRow
from satchel.features.links.service.context import STANDING, Links
from satchel.features.links.service.link_enter import Visit
from satchel.kernel.clock import iso
from satchel.kernel.coverage import length_of, with_layered, with_span
from satchel.kernel.errors import TooMany
from satchel.outbox import BELIEVED_FOR
from satchel.stores.patterns.optimistic_update import NEW
from satchel.stores.ports.expressions import Condition, attr

# A download that is not resumed for this long is abandoned, and its place released.
ABANDONED_AFTER = timedelta(hours=1)
# More parallel parts than any program downloads.
MOST_ANSWERS = 32
# How often a file may go out in answers that are cut off.
MOST_LOST = 8
# Stands for all files of a folder, taken one by one. No file is called so.
ALL_FILES = "files"

_replace = msgspec.structs.replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """What a visitor downloads. `size_bytes` is what a place is worth. `part` is the file, if it is one of a folder.

    It counts for `thing`, if that is not what the link leads to.
    What is not `resumable`, such as a streamed archive, is whole in one answer or not at all.
    """

    visit: Visit
    file_id: str
    size_bytes: int
    part: str = ""
    thing: str = ""
    resumable: bool = True

    @property
    def worth(self) -> int:
        # An empty file is worth something, too, or it could be downloaded without limit.
        return max(1, self.size_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """An answer of at most `length` bytes from `start` on."""

    answer_id: str
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A grant after an answer, its row of the one file of a folder, and how many downloads the answer finished."""

    grant: GrantRow
    part: GrantPartRow | None
    growth: int


def with_answer(links: Links, taking: Taking, grant: GrantRow, part: GrantPartRow | None, sending: Sending) -> Ended:
    """The grant with one more answer, and with one more place if the answer exceeds the ones it has."""
    alive = alive_answers(links, grant)
    if len(alive) >= MOST_ANSWERS:
        raise TooMany(
            "Too many parts of this file are being downloaded at once. Wait until some have finished.", retry_after=5
        )
    dead = {name: answer for name, answer in grant.under_way.items() if name not in alive}
    arrived, resumed = _resumed_answer(dead, taking.part, sending.start)
    # Other answers of a dead server may be resumed as well, while there are fewer than MOST_ANSWERS in all.
    others = {name: dead[name] for name in dead if name != resumed and len(grant.under_way) < MOST_ANSWERS}
    told = Ended(grant, part, 0)
    if arrived:
        told = _covered(taking, grant, part, (sending.start - arrived, sending.start), is_limited=True)
        grant = _replace(told.grant, sent_bytes=grant.sent_bytes + arrived, lost_bytes=grant.lost_bytes + arrived)
    taken = _charged(grant, taking.worth) + sum(answer.size_bytes for answer in alive.values()) + sending.length
    fits = grant.places > 0 and taken <= grant.places * taking.worth + taking.worth // 2
    under_way = {**others, **alive, sending.answer_id: Answer(sending.length, until(links), sending.start)}
    places = grant.places if fits else grant.places + 1
    return Ended(changed(links, grant, places=places, under_way=under_way), told.part, 0)


def after_answer(
    links: Links, taking: Taking, link: LinkRow, grant: GrantRow, part: GrantPartRow | None, sending: Sending, sent: int
) -> Ended:
    """The grant when so many bytes of an answer have gone out."""
    is_cut = sent < sending.length
    went = (0, 0) if is_cut and not taking.resumable else (sending.start, sending.start + sent)
    ended = _covered(taking, grant, part, went, is_limited=bool(link.downloads_limit))
    under_way = {name: answer for name, answer in grant.under_way.items() if name != sending.answer_id}
    new = changed(
        links,
        ended.grant,
        sent_bytes=grant.sent_bytes + sent,
        lost_bytes=grant.lost_bytes + (sent if is_cut else 0),
        under_way=under_way,
    )
    return Ended(new, ended.part, ended.growth)


def _covered(
    taking: Taking, grant: GrantRow, part: GrantPartRow | None, went: tuple[int, int], *, is_limited: bool
) -> Ended:
    if taking.part:
        return _covered_part(taking, grant, part, went)
    layers, whole = with_layered(grant.covered, went, taking.worth)
    finished = grant.finished + whole
    places = grant.places
    if is_limited:
        # What went beyond the places does not make another download: it took no place.
        finished = min(places, finished)
        layers = [] if finished == places else layers
    else:
        places = max(places, finished)
    return Ended(_replace(grant, covered=layers, finished=finished, places=places), None, finished - grant.finished)


def _covered_part(taking: Taking, grant: GrantRow, part: GrantPartRow | None, went: tuple[int, int]) -> Ended:
    known = [] if part is None or part.round != grant.finished else part.covered
    spans, _ = with_span(known, went)
    # Each byte of each file counts once, so as many bytes as the folder has are all of them.
    grown = length_of(spans) - length_of(known)
    covered_bytes = grant.covered_bytes + (grown if taking.size_bytes else went[1])
    row = GrantPartRow(
        token=grant.token, visitor=grant.visitor, file_id=taking.part, round=grant.finished, covered=spans
    )
    is_whole = covered_bytes >= taking.worth and grant.finished < grant.places
    new = _replace(
        grant,
        covered_bytes=0 if is_whole else covered_bytes,
        finished=grant.finished + is_whole,
    )
    return Ended(new, row, int(is_whole))


def _charged(grant: GrantRow, worth: int) -> int:
    """What counts against the places of a grant."""
    forgiven = min(grant.lost_bytes, MOST_LOST * max(1, grant.places) * worth)
    return max(grant.sent_bytes - forgiven, grant.finished * worth)


def _resumed_answer(dead: Mapping[str, Answer], part: str, start: int) -> tuple[int, str]:
    """How much has arrived of the answer that a visitor resumes, and which it is."""
    return max(
        (
            (start - answer.at, name)
            for name, answer in dead.items()
            if _part_of(name) == part and answer.at <= start < answer.at + answer.size_bytes
        ),
        default=(0, ""),
    )


def gone_bytes(grant: GrantRow) -> int:
    """How much of an unfinished download has gone out."""
    if grant.file_id == ALL_FILES:
        return grant.covered_bytes
    return length_of(grant.covered[0]) if grant.covered else 0


def open_places(grant: GrantRow) -> int:
    """The places of downloads that are in progress or were broken off."""
    return max(0, grant.places - grant.finished)


def abandoned_places(links: Links, grant: GrantRow) -> int:
    before = iso(links.clock() - ABANDONED_AFTER.total_seconds())
    if grant.changed_at > before or alive_answers(links, grant):
        return 0
    rest = max(_charged(grant, grant.size_bytes) - grant.finished * grant.size_bytes, gone_bytes(grant))
    # Less than half of a file is little. Of many files one is much: it would be free otherwise.
    is_much = rest > 0 if grant.file_id == ALL_FILES else rest * 2 >= grant.size_bytes
    return max(0, open_places(grant) - is_much)


def is_over(links: Links, link: LinkRow, grant: GrantRow) -> bool:
    """Whether the grant can be deleted: without a limit it is kept only while the download is incomplete."""
    is_whole = not grant.covered and not grant.covered_bytes
    return is_whole and not alive_answers(links, grant) and not link.downloads_limit


def alive_answers(links: Links, grant: GrantRow) -> dict[str, Answer]:
    """The answers that count as in flight. A server that is alone counts only its own."""
    now, own = links.now(), iso(links.outbox.alone_since + BELIEVED_FOR.total_seconds())
    return {name: answer for name, answer in grant.under_way.items() if answer.until > now and answer.until >= own}


def changed(links: Links, grant: GrantRow, **changes: object) -> GrantRow:
    # Not the same ones again for a grant that was deleted in between.
    version = grant.version + 1 if grant.version else secrets.randbits(40) + 1
    return _replace(grant, **{**changes, "changed_at": links.now(), "version": version})


def as_read(grant: GrantRow) -> Condition:
    return attr("version") == grant.version if grant.version else NEW


def has_place(link: LinkRow) -> Condition:
    is_open = STANDING & attr("pausedAt").absent()
    if not link.downloads_limit:
        return is_open & attr("downloadsLimit").absent()
    is_below = attr("granted").absent() | (attr("granted") < link.downloads_limit)
    return is_open & (attr("downloadsLimit") == link.downloads_limit) & is_below


def new_answer_id(part: str) -> str:
    return f"{part}/{secrets.token_hex(8)}"


def _part_of(answer_id: str) -> str:
    return answer_id.rpartition("/")[0]


def until(links: Links) -> str:
    return iso(links.clock() + BELIEVED_FOR.total_seconds())


def already_downloading() -> TooMany:
    """The error for a visitor who reconnects before the server has noticed the lost connection."""
    seconds = int(BELIEVED_FOR.total_seconds())
    return TooMany(
        "You are already downloading this. If the connection was lost, resume in a minute.", retry_after=seconds
    )


def used_up() -> LinkUsedUp:
    return LinkUsedUp("This link has reached its download limit. Ask its owner for a new one.")
