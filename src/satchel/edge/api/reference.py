"""The reference page of the API, rendered from the OpenAPI document without a script."""

from typing import Any

import msgspec
from starlette.responses import Response

from satchel.edge.api.openapi import Json
from satchel.edge.api.pages import code_marked, page, prose
from satchel.kernel.markup import escape

_WAYS_IN = {"bearer": "bearer token", "session": "session cookie", "guest": "guest cookie"}


def reference_page(document: Json) -> Response:
    tags = [tag["name"] for tag in document["tags"]]
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    contents, sections = list[str](), list[str]()
    for tag in tags:
        own = [each for each in operations if tag in each[2]["tags"]]
        links = "".join(
            f'<li><a href="#{escape(op["operationId"])}">{escape(op["summary"].rstrip("."))}</a></li>'
            for _, _, op in own
        )
        anchor = escape(f"tag-{tag.replace(' ', '-')}")
        contents.append(f'<li><a href="#{anchor}">{escape(tag.capitalize())}</a><ul>{links}</ul></li>')
        cards = "\n".join(_card(*each) for each in own)
        sections.append(f'<h2 id="{anchor}">{escape(tag.capitalize())}</h2>\n{cards}')
    types = "\n".join(_type(name, schema) for name, schema in document["components"]["schemas"].items())
    info = document["info"]
    body = f"""<header><p><a href="/">Satchel</a></p>
<h1>The API <small>version {escape(info["version"])}</small></h1>
{prose(info["description"])}
<p>Also as <a href="/api/v1/openapi.json">OpenAPI 3.1</a>. See the <a href="/problems">kinds of problem</a>.</p>
</header>
<nav class="contents" aria-label="Contents"><ul>{"".join(contents)}<li><a href="#types">Types</a></li></ul></nav>
<main>
{"".join(sections)}
<h2 id="types">Types</h2>
{types}
</main>"""
    return page("The API · Satchel", body)


def _card(method: str, path: str, operation: Json) -> str:
    name = escape(operation["operationId"])
    shown_path = escape(path).replace("/", "/<wbr>").replace("{", "<em>{").replace("}", "}</em>")
    parts = [
        f'<section class="card" id="{name}">',
        f'<h3><a class="anchor" href="#{name}">{escape(operation["summary"].rstrip("."))}</a></h3>',
        f'<p class="call"><span class="method {method.lower()}">{method}</span> <code>{shown_path}</code></p>',
        prose(operation.get("description", "")),
        f'<p class="auth">{_who(operation["security"])}</p>',
    ]
    if parameters := operation.get("parameters"):
        rows = [(each["name"], each["schema"], each["required"], _where(each)) for each in parameters]
        parts.append(_table("Parameters", rows))
    if sent := operation.get("requestBody"):
        parts.append(f"<p><b>Send</b> {_content(sent['content'])}</p>")
    parts.append(_answers(operation["responses"]))
    return "\n".join([*parts, "</section>"])


def _where(parameter: Json) -> str:
    about = parameter.get("description", "")
    return f"in the {parameter['in']}: {about}" if about else f"in the {parameter['in']}"


def _who(security: list[Json]) -> str:
    if not security:
        return "Open to everybody."
    ways = " or ".join(_WAYS_IN[way] for each in security for way in each)
    return f"With or without {ways}." if {} in security else f"Needs a {ways}."


def _content(content: Json) -> str:
    """Each form that a value can have."""
    return " or ".join(
        _shape(described["schema"]) if "schema" in described else f"<code>{escape(media_type)}</code>"
        for media_type, described in content.items()
    )


def _answers(responses: Json) -> str:
    rows: list[str] = []
    for status, response in responses.items():
        if status == "default":
            continue
        if int(status) < 400:
            meaning = _content(response["content"]) if "content" in response else "nothing"
        else:
            slugs = [slug.strip("`") for slug in response["description"].split(", ")]
            meaning = ", ".join(f'<a href="/problems#{escape(slug)}">{escape(slug)}</a>' for slug in slugs)
        rows.append(f'<li><span class="status s{status[0]}">{escape(status)}</span> {meaning}</li>')
    return f'<ul class="answers" aria-label="Answers">{"".join(rows)}</ul>'


def _type(name: str, schema: Json) -> str:
    required = schema.get("required", [])
    rows = [
        (field, kind, field in required, kind.get("description", ""))
        for field, kind in schema.get("properties", {}).items()
    ]
    about = prose(schema.get("description", ""))
    fields = _table(f"Fields of {name}", rows) if rows else f"<p>{_shape(schema)}</p>"
    return (
        f'<section class="card" id="type-{escape(name)}"><h3><code>{escape(name)}</code></h3>{about}{fields}</section>'
    )


def _table(caption: str, rows: list[tuple[str, Json, bool, str]]) -> str:
    lines = "".join(
        f'<tr><th scope="row"><code>{escape(name)}</code></th><td>{_shape(schema)}</td>'
        f"<td>{'required' if required else _default(schema)}</td><td>{code_marked(note)}</td></tr>"
        for name, schema, required, note in rows
    )
    return f'<div class="scroll"><table><caption>{escape(caption)}</caption><tbody>{lines}</tbody></table></div>'


def _default(schema: Json) -> str:
    default = schema.get("default")
    return "optional" if default is None else f"default <code>{escape(msgspec.json.encode(default).decode())}</code>"


def _shape(schema: Json) -> str:
    """A schema in a few words, with links to the types it names."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#type-{name}"><code>{name}</code></a>'
    if "anyOf" in schema:
        return " or ".join(_shape(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    kind: Any = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_shape(schema.get('items', {}))}"
    limits = [
        f"{word} {schema[key]}"
        for key, word in (
            ("minLength", "from length"),
            ("maxLength", "up to length"),
            ("minimum", "from"),
            ("maximum", "up to"),
            ("format", "as"),
        )
        if key in schema
    ]
    return escape(" ".join([str(kind), *limits]))
