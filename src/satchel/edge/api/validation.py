"""Decode bodies and queries; a refusal names the field that is wrong, and why, in one sentence."""

import re
from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec

from satchel.edge.http.problems import Malformed
from satchel.kernel.errors import Invalid, SatchelError

# The longest address has room for about so many ids.
MAX_QUERY_FIELDS = 500

_PLACE = re.compile(r" - at `\$?\.?(.*)`$")
_LENGTH = re.compile(r"^Expected `(?:str|array)` of length ([<>])= (\d+)$")
_FIELD = re.compile(r"^Object (missing required|contains unknown) field `(.*)`$")


@cache
def json_decoder(wanted: Any) -> Callable[[bytes], Any]:
    """A function that turns a JSON body into `wanted`, or raises what to tell the client."""
    decode = msgspec.json.Decoder(wanted).decode

    def read(raw: bytes) -> Any:
        try:
            return decode(raw)
        except msgspec.ValidationError as error:
            raise _explained(error, "field") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Malformed(f"The body is not valid JSON: {_lowered(str(error))}.") from None
        except RecursionError:
            raise Malformed("The body is not valid JSON: it is nested too deeply.") from None

    return read


@cache
def query_decoder(wanted: type[msgspec.Struct]) -> Callable[[bytes], Any]:
    """A function that turns a query string into `wanted`, or raises what to tell the client."""
    lists = {field.encode_name for field in msgspec.structs.fields(wanted) if _is_list(field.type)}

    def read(raw: bytes) -> Any:
        return _from_query(raw, wanted, lists)

    return read


def _from_query(raw: bytes, wanted: type[msgspec.Struct], lists: set[str]) -> Any:
    values: dict[str, Any] = {}
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_QUERY_FIELDS)
    except ValueError:
        raise Malformed("The query is not valid. Send it as `name=value` in UTF-8.") from None
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).append(value)
        elif name in values:
            raise Invalid(f"The query parameter `{name}` is given more than once.", field=name)
        else:
            values[name] = value
    try:
        return msgspec.convert(values, wanted, strict=False)
    except msgspec.ValidationError as error:
        raise _explained(error, "query parameter") from None


def _is_list(annotation: Any) -> bool:
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(_is_list(part) for part in get_args(annotation))
    return get_origin(annotation) is list


def _explained(error: msgspec.ValidationError, kind: str) -> SatchelError:
    """msgspec says `Expected `int`, got `str` - at `$.size``; people want to hear of `size` first."""
    message = str(error)
    place = _PLACE.search(message)
    parent = place[1] if place else ""
    reason = message[: place.start()] if place else message
    if named := _FIELD.match(reason):
        field = f"{parent}.{named[2]}" if parent else named[2]
        wrong = "is missing" if named[1] == "missing required" else "is unknown"
        return Invalid(f"The {kind} `{field}` {wrong}.", field=field)
    if parent and (length := _LENGTH.match(reason)):
        bound = "at most" if length[1] == "<" else "at least"
        return Invalid(f"The {kind} `{parent}` has to have a length of {bound} {length[2]}.", field=parent)
    if parent:
        return Invalid(f"The {kind} `{parent}` cannot be accepted: {_lowered(reason)}.", field=parent)
    return Invalid(f"The request cannot be accepted: {_lowered(reason)}.")


def _lowered(sentence: str) -> str:
    return sentence if sentence.startswith("JSON") else sentence[:1].lower() + sentence[1:]
