"""The refusals that no schema can say: a request of the right form, whose values do not fit.

`invalid` is for requests that the API's description forbids. Whoever keeps to it meets these instead, each with a slug.
"""

from satchel.kernel.errors import Invalid


class EmailUnfit(Invalid):
    """This is not an e-mail address that can be delivered to, in letters that can be read."""

    slug = "email-unfit"
    title = "This is not an e-mail address"


class TextUnfit(Invalid):
    """What was written is too short or too long without its blanks, or has characters that do not belong there."""

    slug = "text-unfit"
    title = "This text cannot be used"


class TimeUnfit(Invalid):
    """This is not a time, or one that lies too far away, before what it follows, or in the past."""

    slug = "time-unfit"
    title = "This time cannot be used"


class CombinationUnfit(Invalid):
    """Each field could be accepted, but not together with the others: one is missing, too much, or has to differ."""

    slug = "combination-unfit"
    title = "These do not go together"


class ChoiceUnfit(Invalid):
    """What was chosen is not there to choose, or not for this: a page of another score, or yourself as receiver."""

    slug = "choice-unfit"
    title = "This cannot be chosen"


UNFIT: tuple[type[Invalid], ...] = (EmailUnfit, TextUnfit, TimeUnfit, CombinationUnfit, ChoiceUnfit)
