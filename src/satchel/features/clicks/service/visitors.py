"""Tell visitors without an account apart, without knowing who they are: no cookie, no stored address.

A visitor is a hash of network and browser under a random secret that changes every month and is then thrown away. So
the same browser in the same network is one visitor within a month, nobody can find out afterwards who that was, and
nobody is followed from one month into the next.
"""

import base64
import hashlib
import hmac
import secrets
from ipaddress import IPv6Address, ip_address

from satchel.features.clicks.records import VISITORS_SECRET, VisitorsSecretRow
from satchel.features.clicks.service.folding import marker_expiry
from satchel.kernel.clock import Clock, iso
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import ConditionFailed, Tables

PREFIX = "visitor:"
_HASH_BYTES = 16
_SECRET_BYTES = 32


class Visitors:
    """Knows the secret of the running month; all servers on the same tables know the same."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock
        self._month = ""
        self._secret = b""

    async def visitor_of(self, address: str, agent: str) -> str:
        """`visitor:` and 22 characters; neither address nor agent is kept."""
        month = iso(self._clock())[:7]
        if month != self._month:
            secret = await self._secret_of(month)
            self._month, self._secret = month, secret
        # Of fixed length each, so that no address and agent read like two others.
        seen = b"".join(hashlib.sha256(part.encode(errors="replace")).digest() for part in (_network(address), agent))
        digest = hmac.digest(self._secret, seen, hashlib.sha256)[:_HASH_BYTES]
        return PREFIX + base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")

    async def _secret_of(self, month: str) -> bytes:
        expires_at = marker_expiry(f"MONTH:{month}")
        assert expires_at is not None
        row = VisitorsSecretRow(month=month, secret=secrets.token_bytes(_SECRET_BYTES), expires_at=expires_at)
        try:
            await self._tables.put(VISITORS_SECRET.table, VISITORS_SECRET.item(row), when=attr("PK").absent())
        except ConditionFailed:
            # Another server, or this one before it was restarted, made it.
            stored = await VISITORS_SECRET.get(self._tables, month=month)
            row = row if stored is None else stored
        return row.secret


def _network(address: str) -> str:
    """An IPv4 address itself; of an IPv6 address the part that stays, since devices change the rest every few hours."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
