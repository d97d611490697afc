"""The page at `/trust`: it hands out the local authority's certificate, and says step by step how to trust it."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from satchel.edge.api.endpoints import Router
from satchel.edge.api.pages import PAGE_POLICY, STYLE_PATH, code_marked, page
from satchel.edge.tls.mobile_profile import mobile_profile
from satchel.kernel.markup import escape

if TYPE_CHECKING:
    from satchel.edge.tls.authority import Authority

TRUST = "/trust"
_CERTIFICATE, _PROFILE, _TICK = f"{TRUST}/satchel.crt", f"{TRUST}/satchel.mobileconfig", f"{TRUST}/tick.svg"
# These answer to plain HTTP, too: whoever opens them does not trust HTTPS here yet.
OPEN_PATHS = frozenset({TRUST, _CERTIFICATE, _PROFILE, STYLE_PATH, "/healthz", "/readyz", "/metrics"})
_GREEN_TICK = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="12" fill="#1f7a4d"/>'
    b'<path d="m6.5 12.5 3.7 3.7 7.3-8" fill="none" stroke="#fff" stroke-width="2.6"/></svg>'
)
# What a browser calls the system it runs on, in the order in which it is to be looked for: Android says Linux as well.
_SYSTEMS = {"iPhone": "ios", "iPad": "ios", "Android": "android", "Windows": "windows", "Macintosh": "macos"}
_DEVICES = ("ios", "android", "windows", "macos", "linux", "firefox")
_ENGLISH = "en"


def routes(authority: "Authority") -> Router:
    router = Router("trust", prefix="")

    @router.get(TRUST)
    async def trust_page(request: Request) -> Response:
        return _page(request, authority)

    @router.get(_CERTIFICATE)
    async def certificate() -> Response:
        return _file(authority.pem, "application/x-x509-ca-cert")

    @router.get(_PROFILE)
    async def profile() -> Response:
        return _file(mobile_profile(authority), "application/x-apple-aspen-config")

    @router.get(_TICK)
    async def tick() -> Response:
        # Only HTTPS answers here, so that a page that was read by plain HTTP shows it on devices that trust us.
        headers = {"cross-origin-resource-policy": "cross-origin", "cache-control": "no-store"}
        return Response(_GREEN_TICK, media_type="image/svg+xml", headers=headers)

    return router


def _file(content: bytes, media_type: str) -> Response:
    """Not as an attachment: phones and Firefox then offer at once to install it."""
    return Response(content, media_type=media_type, headers={"cache-control": "no-cache"})


def _page(request: Request, authority: "Authority") -> Response:
    language = _language(request)
    said = words()[language]
    here = _device(request.headers.get("user-agent", ""))
    first, others = here[0], [device for device in _DEVICES if device not in here]
    secure = f"https://{request.url.netloc}"
    near = "".join(_steps(device, said, authority, is_open=device == first) for device in here)
    rest = "".join(_steps(device, said, authority, is_open=False) for device in others)
    body = f"""<header><nav class="languages">{_languages(language)}</nav>
<h1>{escape(said["title"])}</h1>
<p>{escape(said["why"])}</p></header>
<main>
<p class="seen">{escape(said["works"])} <img src="{escape(secure + _TICK)}" alt="{escape(said["not_yet"])}"></p>
{near}
<p><a class="button" href="{escape(secure)}/">{escape(said["open"])}</a></p>
<p class="auth">{escape(said["without"])}</p>
<h2>{escape(said["check"])}</h2>
<p>{escape(said["check_about"])}</p>
<p><code class="fingerprint">{escape(authority.fingerprint)}</code></p>
<p class="auth">{escape(said["limits"].replace("{name}", authority.name))}</p>
<h2>{escape(said["others"])}</h2>
{rest}
</main>"""
    policy = f"{PAGE_POLICY}; img-src {secure}"
    answer = page(f"{said['title']} · Satchel", body, language=language, policy=policy)
    answer.headers["vary"] = "accept-language, user-agent"
    return answer


def _steps(device: str, said: Mapping[str, Any], authority: "Authority", *, is_open: bool) -> str:
    steps = "".join(
        f"<li>{code_marked(each.replace('{name}', authority.name))}</li>" for each in said[f"{device}_steps"]
    )
    address, label = (_PROFILE, said["profile"]) if device == "ios" else (_CERTIFICATE, said["certificate"])
    return (
        f'<details class="card"{" open" if is_open else ""}><summary>{escape(said[device])}</summary>'
        f'<p><a class="button" href="{address}">{escape(label)}</a></p><ol>{steps}</ol></details>\n'
    )


def _languages(chosen: str) -> str:
    return " ".join(
        f'<a href="?lang={tag}" lang="{tag}"{" aria-current=true" if tag == chosen else ""}>{said["language"]}</a>'
        for tag, said in words().items()
    )


def _device(user_agent: str) -> tuple[str, ...]:
    """The devices that this may be, the likeliest first. An iPad calls itself a Mac."""
    system = next((name for sign, name in _SYSTEMS.items() if sign in user_agent), "linux")
    if system in ("ios", "android"):
        return (system,)
    return ("firefox", system) if "Firefox/" in user_agent else (system, "ios") if system == "macos" else (system,)


def _language(request: Request) -> str:
    wanted = [request.query_params.get("lang", "")]
    wanted += [each.partition(";")[0].strip() for each in request.headers.get("accept-language", "").split(",")]
    for each in wanted:
        for tag in words():
            if each.lower() == tag.lower() or each.lower().partition("-")[0] == tag.partition("-")[0]:
                return tag
    return _ENGLISH


@cache
def words() -> dict[str, dict[str, Any]]:
    """What the page says, by language."""
    return json.loads(Path(__file__).with_name("trust_words.json").read_text(encoding="utf-8"))
