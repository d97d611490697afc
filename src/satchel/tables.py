"""The tables that the slices share: their names, keys and indexes; what is kept in them is declared by each slice."""

from dataclasses import replace

from satchel.stores.consumer import POSITIONS
from satchel.stores.ports.table import IndexSpec, TableSpec, text

# People and what they handed to each other.
USER_TRANSFERS = TableSpec(
    "UserTransferRecord",
    text("PK"),
    text("SK"),
    indexes=(IndexSpec("ByEmail", text("email"), carries=("password", "userName")),),
)

# Clicks and the statistics folded from them.
CLICKS = TableSpec(
    "qit-db-local",
    text("userId"),
    text("createDateTime"),
    indexes=(IndexSpec("DateIndex", text("dateKey"), text("recordSort")),),
    expiry="expiresAt",
)
# Where servers share tables, a worker folds clicks behind a stream. One writer folds each as it stores it, and a stream
# that nobody reads would only make it slower.
FOLLOWED_CLICKS = replace(CLICKS, stream=True)

# What clicks add up to, and who has been counted already. Without a stream: whoever folds clicks must not hear itself.
COUNTS = TableSpec("qit-db-local-agg", text("PK"), text("SK"), expiry="expiresAt")

# Albums and photos, who may see what, and the tokens that keep people signed in.
CATALOG = TableSpec(
    "catalog",
    text("PK"),
    text("SK"),
    indexes=(
        IndexSpec("AlbumIndex", text("AlbumIndexPK"), text("AlbumIndexSK")),
        IndexSpec("ReverseLocationIndex", text("LocationKeyPrefix"), text("LocationId")),
        IndexSpec("ReverseGrantIndex", text("ResourceOwner"), text("SK")),
        IndexSpec("RefreshTokenExpiration", text("SK"), text("AbsoluteExpiryTime"), carries="keys"),
    ),
)

# Sheet music: partition prefixes `sc:` for scores and `si:` for their items.
SCORES = TableSpec("score", text("o"), text("s"))

# The format of the tables. Besides, `satchel doctor` tries every ability of the store here.
SELF_TEST = TableSpec("SelfTest", text("probe"), expiry="expiresAt", stream=True)

# Stands there while the tables are a copy that is not finished.
UNFINISHED_COPY = {"probe": "unfinished copy"}

# Raised whenever an older Satchel would misread or damage what this one writes.
FORMAT = 1

TABLES = (USER_TRANSFERS, CLICKS, COUNTS, CATALOG, SCORES, POSITIONS, SELF_TEST)
SHARED_TABLES = tuple(FOLLOWED_CLICKS if table is CLICKS else table for table in TABLES)


def tables_for(*, has_one_writer: bool) -> tuple[TableSpec, ...]:
    """Every table, for a server that is the only one to write them or not."""
    return TABLES if has_one_writer else SHARED_TABLES
