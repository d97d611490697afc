"""Take the pictures of the README from the running app: a real server, plausible content, Debian's Chromium.

`make pictures` writes `docs/pictures/<scene>-<light|dark>.webp`. Files, links and the clicks of a year come first:
the application itself records them, with its clock set back. Then `satchel serve` starts on the same data, and people
meet in a room.
"""

import asyncio
import base64
import math
import random
import struct
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from satchel.app import application
from satchel.config import Settings
from satchel.kernel.clock import ManualClock, iso
from tests.server.process import ServerProcess, serving
from tests.services import tool
from tools.artwork import LANDSCAPES, poster, sheet_music

PICTURES = Path(__file__).parent.parent / "docs" / "pictures"
EMAIL, PASSWORD = "maya@example.org", "correct horse battery staple"
SIZE = ViewportSize(width=1280, height=740)
DAY = 24 * 60 * 60
DAYS = 370
LARGEST_BYTES = 300_000
QUALITY = 0.86
CHAT = (
    ("Maya", "Welcome! Parts and the poster are under Room files."),
    ("Jonas", "Got the viola part, thanks. Bar 48: up-bow?"),
    ("Maya", "Up-bow, and softer. Listen to take 3."),
    ("Lena", "On my way, ten minutes late."),
    ("Aiko", "Take 4 is there as well. See you at seven!"),
)
GUESTS = {
    "Jonas": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Safari/604.1",
    "Aiko": "Mozilla/5.0 (Macintosh; Intel Mac OS X 15.1; rv:133.0) Gecko/20100101 Firefox/133.0",
    "Lena": "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/131.0 Mobile Safari/537.36",
}
BROUGHT = ("Parts", "Recordings", "Poster.jpg", "Programme notes.md", "Rehearsals.csv")
# One of them has an afternoon, when a day's figures are worth looking at.
ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "America/Los_Angeles",
    "Pacific/Honolulu",
    "Pacific/Auckland",
    "Asia/Tokyo",
    "Asia/Kolkata",
)
SCENES = {"shelf": "/shelf", "activity": "/activity"}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="satchel-pictures-") as folder:
        data = Path(folder)
        with chromium() as browser:
            files = artwork(browser)
        asyncio.run(live_for_a_year(data, files))
        with serving(data) as server, chromium() as browser:
            for scene, address in {**SCENES, "room": meet(server, browser)}.items():
                for scheme in ("light", "dark"):
                    take(server, browser, scene, address, scheme)
    return 0


@contextmanager
def chromium() -> Generator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=tool("chromium-headless-shell"),
            args=["--no-sandbox", "--disable-background-networking", "--font-render-hinting=none"],
        )
        yield browser
        browser.close()


def artwork(browser: Browser) -> Mapping[str, bytes]:
    """The content of every file, by its name; Chromium draws it."""
    page = browser.new_page(viewport=ViewportSize(width=960, height=720))
    drawn: dict[str, bytes] = {}
    for name, svg in {**{name: each.svg() for name, each in LANDSCAPES.items()}, "Poster.jpg": poster()}.items():
        page.set_content(f'<body style="margin:0">{svg}')
        drawn[name] = page.screenshot(type="jpeg", quality=88)
    for name, part, seed in (
        ("Violin part.pdf", "Violin I", 3),
        ("Viola part.pdf", "Viola", 5),
        ("Cello part.pdf", "Cello", 8),
    ):
        page.set_content(f'<body style="margin:0">{sheet_music("Quartet in A minor", part, seed)}')
        drawn[name] = page.pdf(format="A4", print_background=True)
    page.close()
    drawn |= {"Take 3.wav": sound(seconds=20), "Take 4.wav": sound(seconds=24)}
    drawn["Programme notes.md"] = (
        b"# Spring concert\n\nSaturday, 7 pm, Old Mill.\n\n1. Brahms\n2. Debussy\n3. Takemitsu\n"
    )
    drawn["Rehearsals.csv"] = b"day,from,to,where\nTuesday,18:30,20:00,Old Mill\nThursday,19:00,21:00,Old Mill\n"
    return drawn


def sound(seconds: int) -> bytes:
    """A falling chord as WAV."""
    rate = 8000
    chord = (220.0, 277.2, 329.6)
    samples = b"".join(
        struct.pack(
            "<h",
            int(6000 * math.exp(-moment / rate / 6) * sum(math.sin(math.tau * tone * moment / rate) for tone in chord)),
        )
        for moment in range(seconds * rate)
    )
    form = struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + len(samples))
        + b"WAVEfmt "
        + form
        + b"data"
        + struct.pack("<I", len(samples))
        + samples
    )


class Member:
    """Maya over the API, in the application itself; time is where its clock stands."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http
        self.headers: dict[str, str] = {}

    async def ask(self, method: str, path: str, **request: Any) -> Any:
        answer = await self.http.request(method, f"/api/v1{path}", headers=self.headers, **request)
        answer.raise_for_status()
        return answer.json()

    async def sign_up(self) -> None:
        self._keep(await self.ask("POST", "/accounts", json={"email": EMAIL, "name": "Maya", "password": PASSWORD}))

    async def renew(self, days_ago: int) -> None:
        """Sign in once a month, for a session ends; on other days, a refresh takes less time."""
        self.headers = {}  # an access token that has run out would be refused
        if days_ago % 30 == 0:
            self._keep(await self.ask("POST", "/sessions", json={"email": EMAIL, "password": PASSWORD}))
        else:
            self._keep(await self.ask("POST", "/sessions/refresh", json={"refresh_token": self._refresh_token}))

    def _keep(self, answer: Any) -> None:
        self.headers = {"authorization": f"Bearer {answer['tokens']['access_token']}"}
        self._refresh_token: str = answer["tokens"]["refresh_token"]

    async def folder(self, name: str) -> str:
        return (await self.ask("POST", "/shelf/folders", json={"name": name}))["id"]

    async def put(self, name: str, content: bytes, folder: str) -> str:
        said = {"destination": "shelf", "filename": name, "folder": folder}
        headers = {
            **self.headers,
            "tus-resumable": "1.0.0",
            "upload-length": str(len(content)),
            "upload-metadata": ",".join(f"{key} {base64.b64encode(said[key].encode()).decode()}" for key in said),
            "content-type": "application/offset+octet-stream",
        }
        made = await self.http.post("/api/v1/uploads", headers=headers, content=content)
        made.raise_for_status()
        return (await self.ask("GET", f"/uploads/{made.headers['location'].rpartition('/')[2]}"))["became"]


async def live_for_a_year(data: Path, files: Mapping[str, bytes]) -> None:
    """Fill the shelf, give links, and let people open them, a day after the other."""
    today = time.time() - 60
    clock = ManualClock(today - DAYS * DAY)
    async with application(Settings(data=data, log_level="error"), clock) as running:
        transport = httpx.ASGITransport(running.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            maya = Member(http)
            await maya.sign_up()
            folders = {name: await maya.folder(name) for name in ("Parts", "Recordings", "From the audience")}
            places = {".pdf": folders["Parts"], ".wav": folders["Recordings"]}
            poster_id = await maya.put("Poster.jpg", files["Poster.jpg"], "root")
            links = await _give_links(maya, poster_id, folders)
            later = {40 - 3 * place: name for place, name in enumerate(sorted(files.keys() - {"Poster.jpg"}))}
            chance = random.Random(7)
            for days_ago in range(DAYS - 1, -1, -1):
                clock.now = today - days_ago * DAY
                await maya.renew(days_ago)
                if name := later.get(days_ago):
                    await maya.put(name, files[name], places.get(Path(name).suffix, "root"))
                await maya.ask("POST", "/clicks", json=list(_clicks(chance, links, days_ago, clock())))


async def _give_links(maya: Member, poster_id: str, folders: Mapping[str, str]) -> list[str]:
    """The ids of the links, that which is opened most often first."""
    given: Sequence[dict[str, Any]] = (
        {"thing": {"kind": "file", "id": poster_id}, "name": "Poster of the spring concert"},
        {"thing": {"kind": "folder", "id": folders["Parts"]}, "name": "Parts for everybody", "password": "andante"},
        {"thing": {"kind": "request", "id": folders["From the audience"]}, "name": "Your photos, please"},
    )
    return [(await maya.ask("POST", "/links", json=link))["link_id"] for link in given]


def _clicks(chance: random.Random, links: Sequence[str], days_ago: int, now: float) -> Iterator[dict[str, Any]]:
    """What visitors did within a day: more at the weekend, and in waves of a few weeks."""
    weekend = 1.7 if time.gmtime(now).tm_wday >= 5 else 1.0
    season = 1.15 + math.sin(days_ago / 17) * 0.8 + (0.9 if days_ago < 25 else 0)
    for _ in range(max(1, round(chance.gauss(16, 5) * weekend * season))):
        yield {
            "target": chance.choices(links, (6, 3, 2))[0],
            "kind": chance.choices(("open", "view", "download"), (6, 2, 3))[0],
            "userId": f"visitor {chance.randrange(400)}",
            "createDateTime": iso(now - chance.uniform(0, 0.5 * DAY)),
        }


def meet(server: ServerProcess, browser: Browser) -> str:
    """Open a room, let guests come, talk and bring files; the room's address."""
    maya = signed_in(server, browser)
    room = asked(maya, "/rooms", name="Quartet practice", hours=8)
    address = f"/rooms/{room['room_id']}"
    entries = maya.request.get("/api/v1/shelf/entries").json()["entries"]
    shared = [each["id"] for each in entries if each["name"] in BROUGHT]
    asked(maya, f"{address}/files", shelf=shared)
    people = {"Maya": maya}
    for name, agent in GUESTS.items():
        people[name] = new_page(server, browser, user_agent=agent)
        asked(people[name], "/guests", name=name, keep="cookie")
        asked(people[name], "/rooms/join", code=room["code"])
    for page in people.values():
        page.goto(address)
        expect(page.locator("h1")).to_contain_text("Quartet practice")
    for name, text in CHAT:
        asked(people[name], f"{address}/chat", text=text)
    return address


def asked(page: Page, path: str, **body: Any) -> Any:
    answer = page.request.post(f"/api/v1{path}", data=body)
    assert answer.ok, answer.text()
    return answer.json()


def new_page(server: ServerProcess, browser: Browser, **more: Any) -> Page:
    context = browser.new_context(
        base_url=server.url,
        locale="en",
        timezone_id=min(ZONES, key=lambda zone: abs(datetime.now(ZoneInfo(zone)).hour - 17)),
        viewport=SIZE,
        device_scale_factor=1.5,
        service_workers="block",
        reduced_motion="reduce",
        **more,
    )
    return context.new_page()


def signed_in(server: ServerProcess, browser: Browser, **more: Any) -> Page:
    page = new_page(server, browser, **more)
    asked(page, "/sessions", email=EMAIL, password=PASSWORD, keep="cookie")
    return page


def take(server: ServerProcess, browser: Browser, scene: str, address: str, scheme: str) -> None:
    page = signed_in(server, browser, color_scheme=scheme)
    page.add_init_script("localStorage.setItem('shelf-view', 'grid')")
    page.goto(address)
    expect(page.locator("h1").first).to_be_attached()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)  # previews are drawn one after the other
    written = webp(page, page.screenshot())
    assert len(written) < LARGEST_BYTES, f"{scene} takes {len(written)} bytes"
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / f"{scene}-{scheme}.webp").write_bytes(written)
    page.context.close()


def webp(page: Page, png: bytes) -> bytes:
    """The same picture, a fifth as large; Chromium knows how."""
    blank = page.context.new_page()
    encoded: str = blank.evaluate(
        """async ([png, quality]) => {
            const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
            const picture = await createImageBitmap(new Blob([bytes]));
            const { width, height } = picture;
            const canvas = Object.assign(document.createElement('canvas'), { width, height });
            canvas.getContext('2d').drawImage(picture, 0, 0);
            return canvas.toDataURL('image/webp', quality).split(',')[1];
        }""",
        [base64.b64encode(png).decode(), QUALITY],
    )
    blank.close()
    return base64.b64decode(encoded)


if __name__ == "__main__":
    sys.exit(main())
