"""The OpenAPI document, generated from the same declarations and types that check every request."""

from collections.abc import Iterable, Sequence
from http import HTTPStatus
from types import NoneType
from typing import Any

import msgspec
from starlette.responses import Response

from satchel.edge.api.endpoints import Operation
from satchel.edge.api.idempotency_key import HEADER as IDEMPOTENCY_KEY
from satchel.edge.api.identity import ACCESS_COOKIE, GUEST_COOKIE
from satchel.edge.http.callers import Admin, Guest, Stranger
from satchel.edge.http.problems import Malformed, WrongMediaType
from satchel.kernel.errors import CursorInvalid, Forbidden, Invalid, NotFound, SatchelError, TooLarge, Unauthenticated
from satchel.kernel.unfit import UNFIT, EmailUnfit
from satchel.stores.patterns.idempotency_key import KEY_PATTERN

Json = dict[str, Any]

_REF = "#/components/schemas/{name}"
_TEXT: Json = {"type": "string"}
# Of those whose form is the same wherever they are sent.
_HEADERS: dict[str, Json] = {IDEMPOTENCY_KEY: {**_TEXT, "pattern": f"^{KEY_PATTERN}$"}}
_SCHEMES: Json = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "An access token, or a guest's token."},
    "session": {"type": "apiKey", "in": "cookie", "name": ACCESS_COOKIE, "description": "Set when signing in."},
    "guest": {"type": "apiKey", "in": "cookie", "name": GUEST_COOKIE, "description": "Set when coming as a guest."},
}


class ProblemDetails(msgspec.Struct):
    """Why something was refused or failed, as RFC 9457 has it; `detail` says what to do. More members may follow."""

    type: str
    title: str
    status: int
    detail: str
    instance: str


def openapi(operations: Sequence[Operation], *, version: str) -> Json:
    """The whole document as plain values, in the order in which the operations were declared."""
    schemas, components = msgspec.json.schema_components(_types(operations), ref_template=_REF)
    by_type = dict(zip(map(repr, _types(operations)), schemas, strict=True))
    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, by_type, components)
    for query in {repr(operation.needs.query) for operation in operations if operation.needs.query}:
        del components[_ref_name(by_type[query])]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Satchel",
            "version": version,
            "summary": "Passing things on and keeping them.",
            "description": "Every error is a problem detail (RFC 9457); `/problems` lists what each kind means.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in operations)],
        "paths": paths,
        "components": {"schemas": dict(sorted(components.items())), "securitySchemes": _SCHEMES},
    }


def _types(operations: Iterable[Operation]) -> list[Any]:
    found: dict[str, Any] = {repr(ProblemDetails): ProblemDetails}
    for operation in operations:
        needs = operation.needs
        for each in (needs.body, needs.query, *needs.path.values(), needs.returns):
            if each is not None and each is not NoneType and not _is_raw(each):
                found[repr(each)] = each
    return list(found.values())


def _is_raw(answer: Any) -> bool:
    return isinstance(answer, type) and issubclass(answer, Response)


def _operation(operation: Operation, by_type: dict[str, Json], components: Json) -> Json:
    needs = operation.needs
    parameters: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": by_type[repr(kind)]}
        for name, kind in needs.path.items()
    ]
    if needs.query is not None:
        parameters += _query_parameters(by_type[repr(needs.query)], components)
    parameters += [
        {"name": name, "in": "header", "required": False, "schema": _HEADERS.get(name, _TEXT), "description": about}
        for name, about in operation.sends.items()
    ]
    result: Json = {"operationId": operation.name, "tags": [operation.tag], "summary": operation.summary}
    if operation.description:
        result["description"] = operation.description
    if parameters:
        result["parameters"] = parameters
    if needs.body is not None:
        content = {"application/json": {"schema": by_type[repr(needs.body)]}}
        result["requestBody"] = {"required": True, "content": content}
    elif operation.consumes is not None:
        result["requestBody"] = {"content": {operation.consumes: {}}}
    result["responses"] = _responses(operation, by_type)
    result["security"] = _security(operation)
    return result


def _ref_name(schema: Json) -> str:
    return schema["$ref"].rpartition("/")[2]


def _query_parameters(schema: Json, components: Json) -> list[Json]:
    struct = components[_ref_name(schema)]
    required = struct.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": field}
        for name, field in struct["properties"].items()
    ]


def _responses(operation: Operation, by_type: dict[str, Json]) -> Json:
    success: Json = {}
    if operation.produces is not None:
        success["content"] = {each: {} for each in operation.produces.split(", ")}
    elif operation.needs.returns is not NoneType and not _is_raw(operation.needs.returns):
        success["content"] = {"application/json": {"schema": by_type[repr(operation.needs.returns)]}}
    if operation.answers:
        success["headers"] = {
            name: {"description": about, "schema": {"type": "string"}} for name, about in operation.answers.items()
        }
    problem = {"application/problem+json": {"schema": {"$ref": _REF.format(name=ProblemDetails.__name__)}}}
    by_status: dict[int, list[str]] = {}
    for error in possible_errors(operation):
        by_status.setdefault(error.status, []).append(error.slug)
    responses: Json = {
        str(status): {"description": HTTPStatus(status).phrase, **success}
        for status in (operation.status, *operation.also)
    }
    for status, slugs in sorted(by_status.items()):
        responses[str(status)] = {"description": ", ".join(f"`{slug}`" for slug in slugs), "content": problem}
    responses["default"] = {"description": "Any other problem", "content": problem}
    return responses


def possible_errors(operation: Operation) -> list[type[SatchelError]]:
    """The problems that a caller can meet, besides failures of the server, in the order in which they are checked."""
    needs = operation.needs
    errors: list[type[SatchelError]] = []
    if needs.accepts and Stranger not in needs.accepts:
        errors.append(Unauthenticated)
        if Admin in needs.accepts:
            errors.append(Forbidden)
    if needs.path:
        errors.append(NotFound)
    if "email" in needs.path:
        errors.append(EmailUnfit)
    if needs.body is not None:
        errors += [WrongMediaType, TooLarge]
    if needs.body is not None or needs.query is not None:
        errors += [Malformed, Invalid, *UNFIT]
    if needs.query is not None and any(field.name == "cursor" for field in msgspec.structs.fields(needs.query)):
        errors.append(CursorInvalid)
    return list(dict.fromkeys((*errors, *operation.raises)))


def _security(operation: Operation) -> list[Json]:
    accepts = operation.needs.accepts
    if not accepts:
        return []
    ways: list[Json] = [{"bearer": []}, {"session": []}]
    if Guest in accepts:
        ways.append({"guest": []})
    return [{}, *ways] if Stranger in accepts else ways
