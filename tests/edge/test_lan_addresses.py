"""Where others on the local network reach a server, and links that they can follow."""

from pathlib import Path

import pytest

from satchel.edge.http.lan_addresses import LanAddress, is_only_here, lan_addresses, likeliest_first
from tests.application import running_satchel

CARDS = [
    ("lo", "127.0.0.1"),
    ("docker0", "172.17.0.1"),
    ("tailscale0", "100.101.102.103"),
    ("eth1", "10.0.0.3"),
    ("wlan0", "192.168.1.5"),
    ("wlan0", "fd00::5"),
    ("wlan0", "fe80::1"),
    ("br-0f3c", "172.18.0.1"),
]


def test_the_address_of_the_usual_route_comes_first_and_virtual_networks_do_not_come() -> None:
    found = likeliest_first(CARDS, "192.168.1.5", ipv6=False)
    assert found == [
        LanAddress("192.168.1.5", "wlan0"),
        LanAddress("10.0.0.3", "eth1"),
        LanAddress("100.101.102.103", "tailscale0"),
    ]


def test_addresses_of_ipv6_come_last_and_only_where_the_server_listens_on_them() -> None:
    assert likeliest_first(CARDS, None, ipv6=True)[-1] == LanAddress("[fd00::5]", "wlan0")
    assert LanAddress("[fd00::5]", "wlan0") not in likeliest_first(CARDS, None, ipv6=False)


def test_a_machine_with_no_network_has_no_address() -> None:
    assert likeliest_first(CARDS[:2], None, ipv6=True) == []


def test_a_server_at_one_address_has_no_others() -> None:
    assert lan_addresses("127.0.0.1") == lan_addresses("192.168.1.5") == []


@pytest.mark.parametrize("listens_on", ["0.0.0.0", "::"])
def test_the_cards_of_this_machine_are_read(listens_on: str) -> None:
    for found in lan_addresses(listens_on):
        assert found.card
        assert not is_only_here(found.host)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "[::1]", "::1", "localhost", "a.localhost"])
def test_the_machine_itself_is_only_here(host: str) -> None:
    assert is_only_here(host)


@pytest.mark.parametrize("host", ["192.168.1.5", "satchel.local", "127.example.org", "localhost.example.org", ""])
def test_others_are_not(host: str) -> None:
    assert not is_only_here(host)


@pytest.mark.parametrize("lan", [False, True])
async def test_links_of_a_server_for_the_network_can_be_followed_there(tmp_path: Path, *, lan: bool) -> None:
    others = lan_addresses("0.0.0.0" if lan else "127.0.0.1")
    async with running_satchel(tmp_path, lan=lan, sign_up="open") as satchel:
        ann = satchel.caller()
        await ann.sign_up("ann@example.org")
        ann.http.base_url = "http://127.0.0.1:8400"
        # At the second of these, a tunnel or a container leads to the server.
        for asked_at in ("127.0.0.1:8400", "127.0.0.1:9000", "192.168.7.7:8400"):
            room = (await ann("POST", "/rooms", json={"name": "Choir"}, headers={"host": asked_at})).json()
            expected = f"{others[0].host}:8400" if others and asked_at == "127.0.0.1:8400" else asked_at
            assert room["link"].startswith(f"http://{expected}/join/")
            await ann("DELETE", f"/rooms/{room['room_id']}")
