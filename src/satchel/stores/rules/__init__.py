"""What every table store accepts and means, so that a write that works embedded works on DynamoDB, and vice versa.

Pure functions over the values of `stores.ports`: the `check_*` functions raise `Invalid` or `ItemTooLarge` and return
their argument in the one form that the others expect (numbers canonical, sets as frozenset, sequences as list).
`evaluate` and `apply_actions` carry out on a plain item what conditions and updates say.
"""

from satchel.stores.rules.conditions import check_condition, evaluate
from satchel.stores.rules.keys import check_item, check_item_size, check_key
from satchel.stores.rules.numbers import canonical, number_from
from satchel.stores.rules.queries import (
    Query,
    check_limit,
    check_query,
    decode_cursor,
    encode_cursor,
    project,
)
from satchel.stores.rules.table_specs import check_table, check_tables
from satchel.stores.rules.transactions import check_batch, check_transaction
from satchel.stores.rules.updates import apply_actions, check_actions
from satchel.stores.rules.values import item_bytes, normalise, same, value_bytes

__all__ = [
    "Query",
    "apply_actions",
    "canonical",
    "check_actions",
    "check_batch",
    "check_condition",
    "check_item",
    "check_item_size",
    "check_key",
    "check_limit",
    "check_query",
    "check_table",
    "check_tables",
    "check_transaction",
    "decode_cursor",
    "encode_cursor",
    "evaluate",
    "item_bytes",
    "normalise",
    "number_from",
    "project",
    "same",
    "value_bytes",
]
