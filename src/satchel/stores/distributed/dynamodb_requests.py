"""Writes as DynamoDB's requests, the same for one alone and for one in a transaction, minding what has expired.

DynamoDB takes an expired item away hours later. Until then every condition is sent so that it treats such a leftover
as absent; only an update cannot, because it would build on what is left, and is sent so that a leftover refuses it.
"""

from decimal import Context, Decimal
from typing import Any, TypeAlias

from satchel.stores.distributed.dynamodb_expressions import Expression
from satchel.stores.distributed.dynamodb_wire import item_to_wire
from satchel.stores.ports.table import Check, Delete, Item, Put, TableSpec, Update, Write
from satchel.stores.rules import evaluate

Request: TypeAlias = dict[str, Any]
_ALL_DIGITS = Context(prec=38)


def moment(seconds: float) -> Decimal:
    """A time as DynamoDB can compare it; a float has up to 50 digits when written out, a number there at most 38."""
    return _ALL_DIGITS.create_decimal(seconds).normalize(_ALL_DIGITS)


def has_expired(table: TableSpec, item: Item, now: Decimal) -> bool:
    until = item.get(table.expiry) if table.expiry else None
    return isinstance(until, int | Decimal) and not isinstance(until, bool) and until <= now


def holds_if_absent(write: Write) -> bool:
    return write.when is None or evaluate(write.when, {})


def write_request(write: Write, table_name: str, now: Decimal | None) -> Request:
    """The request for a checked write. Without `now` nothing is taken for expired."""
    expression = Expression()
    request: Request = {"TableName": table_name}
    match write:
        case Put(item=item):
            request["Item"] = item_to_wire(dict(item))
        case Update(key=key, actions=actions):
            request["Key"] = item_to_wire(dict(key))
            request["UpdateExpression"] = expression.update(actions)
        case Delete(key=key) | Check(key=key):
            request["Key"] = item_to_wire(dict(key))
    if condition := _condition(write, now, expression):
        request["ConditionExpression"] = condition
    return request | expression.placeholders()


def removal_request(table: TableSpec, table_name: str, key: Item, now: Decimal) -> Request:
    """The request that takes away what is left of an expired item, and nothing else."""
    expression = Expression()
    condition = _expired(table.expiry or "", now, expression)
    fields = {"TableName": table_name, "Key": item_to_wire(key), "ConditionExpression": condition}
    return fields | expression.placeholders()


def _condition(write: Write, now: Decimal | None, expression: Expression) -> str | None:
    asked = None if write.when is None else expression.condition(write.when)
    expiry = write.table.expiry
    if expiry is None or now is None:
        return asked
    if isinstance(write, Update):
        live = f"NOT ({_expired(expiry, now, expression)})"
        return live if asked is None else f"({asked}) AND {live}"
    if asked is None:
        return None
    expired = _expired(expiry, now, expression)
    return f"({asked}) OR {expired}" if holds_if_absent(write) else f"({asked}) AND NOT ({expired})"


def _expired(expiry: str, now: Decimal, expression: Expression) -> str:
    # False of an attribute that is missing or not a number: values of different types have no order.
    return f"{expression.path((expiry,))} <= {expression.value(now)}"
