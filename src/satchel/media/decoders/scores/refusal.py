"""Why a file is not taken as sheet music."""

from satchel.media.score_jobs import Refusal


class ScoreRefused(Exception):
    """The file is to blame. The reason is for the person who handed it in."""

    def __init__(self, slug: Refusal, reason: str) -> None:
        super().__init__(reason)
        self.slug: Refusal = slug
        self.reason = reason
