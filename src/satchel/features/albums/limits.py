"""How many albums, people and medias there may be, and how often people may share."""

from datetime import timedelta

from satchel.stores.patterns.throttle import Limit
from satchel.stores.ports.ephemeral import Ephemeral

# All albums of an owner are read at once, and a page of a table has 1 MB.
MAX_ALBUMS = 2000
# A transaction has 100 writes. One that moves medias changes the counts of everybody who sees either album.
MAX_PEOPLE = 40
# About half a minute of work.
MAX_MEDIAS_PER_ACT = 100_000
# A row has 400 KB.
MAX_PINS_PER_ACT = 1000
# Who shares by e-mail learns whether the address has an account.
SHARES_PER_PERSON = Limit(
    "album-share", 200, timedelta(hours=1), per="person", about="people that albums are shared with"
)
# Each reads all medias of an owner.
CHECKS_PER_PERSON = Limit("album-check", 12, timedelta(hours=1), per="person", about="checks of all counts")
LIMITS = (SHARES_PER_PERSON, CHECKS_PER_PERSON)


class AlbumLimits:
    """The throttles of albums on one store."""

    def __init__(self, ephemeral: Ephemeral) -> None:
        self.shares = SHARES_PER_PERSON.on(ephemeral)
        self.checks = CHECKS_PER_PERSON.on(ephemeral)
