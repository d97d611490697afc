"""How often somebody may try e-mail addresses as receivers."""

from satchel.stores.patterns.throttle import GUESSING_WINDOW, Limit

# Somebody who sends by e-mail could find out who has an account here.
UNKNOWN_RECEIVERS_PER_SENDER = Limit(
    "receiver", 60, GUESSING_WINDOW, per="sender", about="e-mail addresses without an account"
)
LIMITS = (UNKNOWN_RECEIVERS_PER_SENDER,)
