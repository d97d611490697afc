"""How often people may share scores, and lay music out anew."""

from datetime import timedelta

from satchel.stores.patterns.throttle import Limit

# Who shares by e-mail learns whether the address has an account.
SHARES_PER_PERSON = Limit(
    "score-share", 200, timedelta(hours=1), per="person", about="people that scores are shared with"
)
# Each takes a core for seconds.
LAYOUTS_PER_PERSON = Limit("score-layout", 300, timedelta(hours=1), per="person", about="scores laid out or transposed")
LIMITS = (SHARES_PER_PERSON, LAYOUTS_PER_PERSON)
