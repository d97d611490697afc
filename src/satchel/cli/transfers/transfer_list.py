"""Transfers as people read them: the history in columns, and one transfer with its receipts."""

from collections.abc import Iterator, Sequence

from satchel.cli.engine.api_types.transfer_types import TransferView
from satchel.cli.engine.files.download import full_name
from satchel.cli.engine.resources.transfer_text import (
    SHORT_ID,
    first_names,
    moment_of,
    short_id,
    shown_count,
    state_word,
    where_answers_go,
    whereabouts,
)
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment

_STATE_WIDTH = 10
_STYLES = {"verified": "good", "declined": "bad", "withdrawn": "quiet"}
_TAKEN = SHORT_ID + 16 + _STATE_WIDTH + 4 * 2


def history(transfers: Sequence[TransferView]) -> Iterator[str]:
    others = [_other_side(each) for each in transfers]
    contents = [f"{first_names(each)}, {shown_bytes(each.size_bytes)}" for each in transfers]
    other_width = room_for(_widest(others), _TAKEN + 20, least=8)
    content_width = room_for(_widest(contents), _TAKEN + other_width, least=12)
    for each, other, content in zip(transfers, others, contents, strict=True):
        columns = [
            paint(shown_moment(each.sent_at), "quiet"),
            fitted(other, other_width),
            fitted(content, content_width),
            _shown_state(each.state, _STATE_WIDTH),
            short_id(each),
        ]
        yield "  ".join(columns)


def details(transfer: TransferView) -> Iterator[str]:
    yield paint(f"{_other_side(transfer)}, {shown_moment(transfer.sent_at)}", "strong")
    if transfer.note:
        yield from (f"  “{printable(line)}”" for line in transfer.note.splitlines())
    yield f"  {shown_count(transfer.file_count)}, {shown_bytes(transfer.size_bytes)}"
    widest = room_for(max((shown_width(printable(full_name(file))) for file in transfer.files), default=0), 26)
    for file in transfer.files:
        state = f"  {_shown_state(file.state)}" if file.state else ""
        yield f"    {fitted(printable(full_name(file)), widest)}  {shown_bytes(file.size_bytes):>7}{state}"
    if transfer.receipts:
        yield ""
        names = room_for(max(shown_width(printable(each.name)) for each in transfer.receipts), 32)
        for receipt in transfer.receipts:
            moment = moment_of(receipt)
            columns = [
                fitted(printable(receipt.name), names),
                _shown_state(receipt.state, _STATE_WIDTH),
                shown_moment(moment) if moment else "",
            ]
            yield f"  {'  '.join(columns)}".rstrip()
    if transfer.missing:
        yield "  No answer yet from " + printable(", ".join(each.name for each in transfer.missing)) + "."
    for sentence in filter(None, (whereabouts(transfer), where_answers_go(transfer))):
        yield "  " + printable(sentence)
    if not transfer.is_available:
        received = transfer.direction == "received"
        yield f"  The files {'are no longer available' if received else 'can no longer be sent again'}."


def _other_side(transfer: TransferView) -> str:
    if transfer.direction == "received":
        return printable(f"from {transfer.sender.name}")
    return printable(f"to {transfer.receiver.name}")


def _shown_state(state: str, width: int = 0) -> str:
    padded = state_word(state).ljust(width)
    return paint(padded, _STYLES[state]) if state in _STYLES else padded


def _widest(texts: Sequence[str]) -> int:
    return max(map(shown_width, texts), default=0)
