"""How often people may share scores."""

from datetime import timedelta

from satchel.stores.patterns.throttle import Limit

# Who shares by e-mail learns whether the address has an account.
SHARES_PER_PERSON = Limit(
    "score-share", 200, timedelta(hours=1), per="person", about="people that scores are shared with"
)
LIMITS = (SHARES_PER_PERSON,)
