"""Who is a robot, and what robots get: what a link is, and no more; nothing that they do counts."""

import pytest

from satchel.kernel.robots import is_beforehand, is_robot
from tests.application import Caller, Satchel
from tests.features.links.given import CONTENT, given_file, slug
from tests.features.links.test_contents import views
from tests.features.links.visiting import PREVIEWER, counted, figures, visitor

PEOPLE = [
    "",
    "curl/8.5.0",
    "Wget/1.21.4",
    "aria2/1.37.0",
    "satchel/1.0",
    "python-httpx/0.27",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/128.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 11; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0 Mobile",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [FBAN/FBIOS;FBAV/430.0]",
    "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/120.0 Mobile Safari/537.36 Telegram-Android/10.5",
    "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15 Technology Preview",
]
ROBOTS = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0) Chrome/116.0 Safari/537.36",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "facebookexternalhit/1.1;line-poker/1.0",
    "Mozilla/5.0 (Macintosh) AppleWebKit/601.2.4 Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Twitterbot/1.0",
    PREVIEWER,
    "TelegramBot (like TwitterBot)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
    "http.rb/5.1.1 (Mastodon/4.2.0; +https://example.org/) Bot",
    "Synapse (bot; +https://github.com/matrix-org/synapse)",
    "Iframely/1.3.1 (+https://iframely.com/docs/about)",
    "Mozilla/5.0 (compatible; Baiduspider/2.0)",
    "ia_archiver",
]
BEFOREHAND = [
    {"sec-purpose": "prefetch;prerender"},
    {"sec-purpose": "prefetch"},
    {"purpose": "prefetch"},
    {"x-purpose": "preview"},
    {"x-moz": "prefetch"},
]


@pytest.mark.parametrize("agent", PEOPLE)
def test_people_and_their_programs_are_no_robots(agent: str) -> None:
    assert not is_robot({"user-agent": agent})
    assert not is_beforehand({"user-agent": agent})


@pytest.mark.parametrize("agent", ROBOTS)
def test_robots_are_known_by_what_they_call_themselves(agent: str) -> None:
    assert is_robot({"user-agent": agent})


@pytest.mark.parametrize("headers", BEFOREHAND)
def test_what_a_browser_fetches_beforehand_nobody_has_asked_for(headers: dict[str, str]) -> None:
    assert is_beforehand({"user-agent": PEOPLE[-1], **headers})
    assert not is_robot({"user-agent": PEOPLE[-1], **headers})


@pytest.mark.parametrize("headers", [{"user-agent": PREVIEWER}, {"purpose": "prefetch"}])
async def test_a_robot_learns_what_a_link_is_and_no_more(
    satchel: Satchel, ann: Caller, headers: dict[str, str]
) -> None:
    link = await given_file(satchel, ann, downloads=1)
    robot, person = visitor(satchel, link), visitor(satchel, link)
    robot.headers |= headers
    assert (await robot.look())["name"] == "file.txt"
    robot.shown = (await person.entered())["pass"]
    attempts = [
        await robot("POST", "/enter", json={}),
        await robot("GET", "/content"),
        await robot("HEAD", "/content"),
        await robot("GET", "/files"),
        await robot("GET", "/archive"),
    ]
    assert {answer.status_code for answer in attempts} == {403}
    assert slug(attempts[0]) == (403, "forbidden")
    assert await counted(ann, link) == figures(opens=1, people=1, previews=1)
    assert (await person("GET", "/content")).content == CONTENT


async def test_whoever_has_entered_may_fetch_ahead_and_that_counts_as_nothing(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann)
    person = visitor(satchel, link)
    ways = ("/preview", f"/files/{link['thing']['id']}/preview")
    for headers in BEFOREHAND:
        assert [(await person("GET", way, headers=headers)).status_code for way in ways] == [403, 403]
    await person.entered()
    for headers in BEFOREHAND:
        assert [(await person("GET", way, headers=headers)).status_code for way in ways] == [200, 200]
        assert (await person("GET", "/content", headers=headers)).status_code == 403
    assert (await person("GET", "/preview", headers={"user-agent": PREVIEWER})).status_code == 403
    assert await views(ann, link) == 0
    assert (await person("GET", "/preview")).content == CONTENT
    assert await views(ann, link) == 1
    person.shown = "wrong"
    assert (await person("GET", "/preview", headers={"purpose": "prefetch"})).status_code == 403


async def test_every_look_of_a_robot_is_told_to_the_owner(satchel: Satchel, ann: Caller) -> None:
    link = await given_file(satchel, ann, password="swordfish")
    robot = visitor(satchel, link)
    robot.headers["user-agent"] = PREVIEWER
    for _ in range(3):
        assert (await robot.look())["name"] is None
    assert await counted(ann, link) == figures(previews=3)
