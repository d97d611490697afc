"""Links as people read them: a new one with its address, all of them in columns, and one with its counts."""

import sys
from collections.abc import Iterator, Sequence

from satchel.cli.engine.api_types.link_types import LinkView
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.numbers import shown_people, shown_times
from satchel.cli.engine.terminal.output import hanging, paint, printable
from satchel.cli.engine.terminal.qr_code import qr_code
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment

# Ids begin with the time, so that those of one day differ only towards the end.
_SHORT_ID = 8
_STYLES = {"active": "good", "revoked": "quiet", "expired": "bad", "used-up": "bad", "gone": "bad"}
_KINDS = {"request": "asks", "selection": "files"}
_HEADINGS = ("opened", "people", "taken")
_TAKEN = 6 + 8 + sum(map(len, _HEADINGS)) + _SHORT_ID + 6 * 2
_LEAST_NAME = 8
# Kind and people.
_LEFT_OUT = 6 + len("people") + 2 * 2
_CAN = {
    "file": "can download {name}",
    "folder": "can download everything in {name}",
    "selection": "can download {name}",
    "room": "can go to the room {name}",
    "request": "can put files into your folder {name}",
    "score": "can play from {name}",
    "photos": "can see and download {name}",
    "album": "can see and download everything in the album {name}",
}


def invitation(link: LinkView, *, qr: bool) -> Iterator[str]:
    """What to pass on."""
    yield hanging(sentence(link), "")
    yield ""
    if qr and sys.stdout.isatty():
        yield from qr_code(link.address)
        yield ""
    yield f"  {link.address}" if sys.stdout.isatty() else link.address
    yield ""
    if link.alias and not link.has_password:
        yield hanging("The word in the address can be guessed. `satchel links change --password` keeps others out.", "")
    short = short_id(link)
    yield hanging(f"`satchel links show {short}` shows its visits, `satchel links revoke {short}` revokes it.", "")


def sentence(link: LinkView) -> str:
    """What one can do by it, and under which conditions."""
    who = "Anybody with this link and its password" if link.has_password else "Anybody with this link"
    limits = [
        *([f"from {shown_moment(link.starts_at)} on"] if link.starts_at and link.state == "not-yet" else []),
        *([f"until {shown_moment(link.expires_at)}"] if link.expires_at else []),
        *([f"{shown_times(link.downloads_limit)} in all"] if link.downloads_limit else []),
        *([f"up to {shown_bytes(link.max_bytes)} in all"] if link.max_bytes else []),
    ]
    can = _CAN[link.thing.kind].format(name=printable(link.thing.name))
    blind = " They cannot see what is in it." if link.thing.kind == "request" else ""
    adds = " They can add photos." if link.may_add else ""
    return ", ".join([f"{who} {can}", *limits]) + f".{blind}{adds}"


def columns(links: Sequence[LinkView]) -> Iterator[str]:
    """What a narrow terminal has no room for, `links show` tells."""
    names = [printable(link.name or link.thing.name) for link in links]
    is_narrow = room_for(_TAKEN + _LEAST_NAME, 0) < _TAKEN + _LEAST_NAME
    taken = _TAKEN - (_LEFT_OUT if is_narrow else 0)
    width = room_for(max(map(shown_width, [*names, "name"]), default=0), taken, least=_LEAST_NAME)

    def line(name: str, kind: str, state: str, counts: Sequence[str], short: str) -> str:
        opened, people, taken = (count.rjust(len(each)) for count, each in zip(counts, _HEADINGS, strict=True))
        told = [state, opened, taken] if is_narrow else [kind.ljust(6), state, opened, people, taken]
        return "  ".join([fitted(name, width), *told, short])

    if links:
        yield paint(line("name", "kind", "state".ljust(8), _HEADINGS, "id"), "quiet")
    for link, name in zip(links, names, strict=True):
        counts = [f"{count:,}" for count in (link.opens, link.people, link.downloads)]
        yield line(name, _KINDS.get(link.thing.kind, link.thing.kind), _shown_state(link, 8), counts, short_id(link))


def details(link: LinkView) -> Iterator[str]:
    yield paint(printable(link.name or link.thing.name), "strong") + f", {_shown_state(link)}"
    if link.note:
        yield from (f"  “{printable(line)}”" for line in link.note.splitlines())
    yield f"  {link.address}"
    yield hanging(sentence(link), "  ")
    yield ""
    last = f", last on {shown_moment(link.last_at)}" if link.last_at else ""
    anew = " Visitors without an account count once a month." if link.people else ""
    yield hanging(f"Opened {shown_times(link.opens)} by {shown_people(link.people)}{last}.{anew}", "  ")
    if link.thing.kind == "request":
        yield f"  {shown_bytes(link.received_bytes)} received."
    elif link.thing.kind != "room":
        yield f"  Downloaded {shown_times(link.downloads)}."
    if link.downloads_limit and link.downloads_open:
        begun = "1 download has" if link.downloads_open == 1 else f"{link.downloads_open:,} downloads have"
        yield hanging(f"{begun} begun and not ended. `satchel links give-back` frees those that broke off.", "  ")
    if link.previews:
        yield hanging(f"Robots opened it {shown_times(link.previews)}, which is not counted above.", "  ")
    if link.badge_address:
        yield f"  Public counter: {link.badge_address}"
    yield hanging(f"Created on {shown_moment(link.created_at)}, id {link.link_id}.", "  ")


def short_id(link: LinkView) -> str:
    """As much of the id as it takes to name the link; see `finding.find`."""
    return link.link_id[-_SHORT_ID:]


def _shown_state(link: LinkView, width: int = 0) -> str:
    padded = link.state.ljust(width)
    return paint(padded, _STYLES[link.state]) if link.state in _STYLES else padded
