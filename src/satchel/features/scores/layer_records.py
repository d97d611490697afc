"""What is stored of the layers in which people mark a score, and of what each person has seen of them."""

import msgspec

from satchel.features.scores.model import Etag, OwnerId, ScoreId
from satchel.features.scores.records import IN_SCORES, OWNER
from satchel.stores.schema import Record, Shape, attribute
from satchel.tables import SCORES


class DoneMarks(msgspec.Struct, frozen=True, array_like=True):
    """What a request with an idempotency key came to: the sequence number, and the ids of new marks."""

    key: str
    seq: int
    first_id: int
    count: int


class LayerRow(Record, frozen=True, kw_only=True):
    """A layer of marks. It has one author, who alone sees it until it is published."""

    owner: OwnerId
    score_id: ScoreId
    # Five digits.
    layer: str
    name: str = attribute("n")
    author: OwnerId = attribute("w")
    part_id: int | None = attribute("pt", default=None)
    is_published: bool = attribute("pb", default=False)
    # Counts its changes.
    seq: int = attribute("q", default=0)
    count: int = attribute("c", default=0)
    created_at: int = attribute("ca")
    done: list[DoneMarks] = attribute("dk", default=[])

    @property
    def layer_id(self) -> int:
        return int(self.layer)


class ScoreSeenRow(Record, frozen=True, kw_only=True):
    """When somebody looked at a score last: the ETag, and the sequence number of each layer, that they saw."""

    person: OwnerId
    score_id: ScoreId
    at: int = attribute("ua")
    etag: Etag = attribute("e")
    layers: dict[str, int] = attribute("l", default={})


class ScoreNewsRow(Record, frozen=True, kw_only=True):
    """Of each published layer, at an attribute of its own: the sequence number of its last new mark, and its author."""

    owner: OwnerId
    score_id: ScoreId


class LayerCountRow(Record, frozen=True, kw_only=True):
    """The id of the next layer. None is used twice."""

    owner: OwnerId
    score_id: ScoreId
    next_layer: int = attribute("ln", default=0)


LAYER = Shape(
    LayerRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:l:{layer}"},
    owner=OWNER,
    about="A layer of marks, with a sequence number that counts its changes",
    separator=":",
    repeats_key_fields=False,
)
LAYER_COUNT = Shape(
    LayerCountRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:l"},
    owner=OWNER,
    about="The id of the next layer",
    separator=":",
    repeats_key_fields=False,
)
SCORE_SEEN = Shape(
    ScoreSeenRow,
    SCORES,
    {"o": "sn:{person}", "s": "{score_id}"},
    owner=OWNER,
    about="What somebody had seen of a score when they looked last",
    separator=":",
    repeats_key_fields=False,
)
SCORE_NEWS = Shape(
    ScoreNewsRow,
    SCORES,
    {"o": IN_SCORES, "s": "{score_id}:w"},
    owner=OWNER,
    about="Each published layer, as `l<layer>`: its last new mark and its author, so that lists say what is new",
    separator=":",
    repeats_key_fields=False,
)
LAYER_SHAPES = (LAYER, LAYER_COUNT, SCORE_SEEN, SCORE_NEWS)
