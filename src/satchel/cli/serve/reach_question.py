"""Asks at the first start in a terminal whether phones shall reach the server, too: most people try that next."""

import select
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from satchel.cli.engine.terminal.output import note
from satchel.config import Settings
from satchel.edge.http.lan_addresses import ALL_IPV4, is_only_here, lan_addresses

# A terminal that nobody looks at must not keep a server from starting.
PATIENCE_SECONDS = 60


def ask_reach(settings: Settings) -> Settings:
    """The settings with `lan`, if somebody at a terminal wants that. Whoever has decided already is not asked."""
    has_decided = settings.lan or settings.public_url or settings.tls_cert or not is_only_here(settings.host)
    has_begun = not settings.has_one_writer or Path(urlsplit(settings.table_url).path).exists()
    if has_decided or has_begun or not (sys.stdin.isatty() and sys.stdout.isatty()) or not lan_addresses(ALL_IPV4):
        return settings
    print("This is the first start. Shall phones and others on your network reach this server, too? [y/N] ", end="")
    sys.stdout.flush()
    if not select.select([sys.stdin], [], [], PATIENCE_SECONDS)[0]:
        print()
        return settings
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return settings
    note("Next time, say so with --lan. With --tls, drop and installing the app work on phones, too.")
    return replace(settings, lan=True)
