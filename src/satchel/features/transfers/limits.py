"""How often somebody may try e-mail addresses as receivers, and offer things to people."""

from datetime import timedelta

from satchel.stores.patterns.throttle import GUESSING_WINDOW, Limit

_DAY = timedelta(days=1)
# Somebody who sends by e-mail could find out who has an account here.
UNKNOWN_RECEIVERS_PER_SENDER = Limit(
    "receiver", 60, GUESSING_WINDOW, per="sender", about="e-mail addresses without an account"
)
# What takes nothing of the receiver's space still takes their attention. Who is blocked is counted alike.
OFFERS_PER_SENDER = Limit("offer", 300, _DAY, per="sender", about="transfers that ask their receiver first")
OFFERS_PER_PAIR = Limit(
    "offer-to", 20, _DAY, per="sender and receiver", about="transfers that ask their receiver first"
)
# Above this, what a stranger sends is an offer.
STRANGERS_TRANSFERS = Limit(
    "stranger", 10, _DAY, per="sender and receiver", about="transfers to somebody who does not know the sender"
)
# However many strangers there are: this much of a shelf is theirs to fill. Above it, what they send is an offer.
STRANGERS_MEBIBYTES = Limit(
    "stranger-mib", 1024, _DAY, per="receiver", about="mebibytes from senders whom the receiver does not know"
)
LIMITS = (
    *(UNKNOWN_RECEIVERS_PER_SENDER, OFFERS_PER_SENDER, OFFERS_PER_PAIR),
    *(STRANGERS_TRANSFERS, STRANGERS_MEBIBYTES),
)
