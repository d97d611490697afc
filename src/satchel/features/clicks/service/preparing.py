"""What a click is stored as, beside or behind a key, whichever store records it."""

from datetime import timedelta
from hashlib import blake2b

import msgspec

from satchel.features.clicks.model import KeyReused, NewClick
from satchel.features.clicks.records import SENT, ClickRow, click_row
from satchel.features.clicks.service.folding import REMEMBERED_FOR
from satchel.kernel.clock import from_iso
from satchel.stores.ports.table import Item

_encode = msgspec.msgpack.Encoder().encode


def row_of(click: NewClick, created: str, kept_for: timedelta | None) -> ClickRow:
    return click_row(
        click.user_id,
        created,
        count=click.count,
        kind=click.kind,
        target=click.target,
        thing=click.thing,
        owner=click.owner,
        label=click.label,
        expires_at=None if kept_for is None else int(from_iso(created) + kept_for.total_seconds()),
    )


def sent_item(click: NewClick, fingerprint: bytes, created: str, now: float) -> Item:
    """What is remembered of a click that came with a key."""
    assert click.key is not None
    return {
        **SENT.key(user_id=click.user_id, key=click.key),
        "createDateTime": created,
        "fingerprint": fingerprint,
        "expiresAt": int(now + REMEMBERED_FOR.total_seconds()),
    }


def fingerprint_of(click: NewClick) -> bytes:
    """Tells apart clicks that were asked for differently."""
    return blake2b(_encode(click), digest_size=16).digest()


def key_reused() -> KeyReused:
    return KeyReused("Another click was sent with this key. Give each click a key of its own.")
