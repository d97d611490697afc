"""The live events of scores. They go to those who look at a score and may see what the event is about."""

from satchel.features.scores.mark import MarkView
from satchel.features.scores.model import ImportState
from satchel.live import LiveEvent


class ScoreChangedEvent(LiveEvent, tag="score.changed", frozen=True):
    """The structure of the score has changed. Read it again."""

    score_id: str
    etag: str


class ScoreMarksEvent(LiveEvent, tag="score.marks", frozen=True):
    """Marks of a layer were made, changed or removed. A changed mark is among `added` with its id.

    If `seq` is not the one after the last that you know of this layer, you have missed some: read the marks again.
    """

    score_id: str
    layer_id: int
    seq: int
    by: str
    added: list[MarkView]
    removed: list[int]


class ScoreLayersEvent(LiveEvent, tag="score.layers", frozen=True):
    """Layers were made, changed, published or deleted. Read the marks again."""

    score_id: str


class ScoreImportEvent(LiveEvent, tag="score.import", frozen=True):
    """Another page was made of a file, or all are, or none can be."""

    score_id: str
    import_id: str
    state: ImportState
    pages_done: int
    pages_total: int | None


class ScoreDeletedEvent(LiveEvent, tag="score.deleted", frozen=True):
    """The score was deleted."""

    score_id: str


class ScoreTurnedEvent(LiveEvent, tag="score.turned", frozen=True):
    """Somebody who leads has turned to a page. Of engraved music, `bar` is its first, for those who have a layout."""

    score_id: str
    by: str
    page_id: int
    bar: int | None


class SetListChangedEvent(LiveEvent, tag="set-list.changed", frozen=True):
    """A set list was changed, shared or deleted. Read it again."""

    list_id: str


LIVE_EVENTS = (
    ScoreChangedEvent,
    ScoreMarksEvent,
    ScoreLayersEvent,
    ScoreImportEvent,
    ScoreDeletedEvent,
    ScoreTurnedEvent,
    SetListChangedEvent,
)
