"""The class of a device by what its browser calls itself, and the host of the page before."""

import pytest

from satchel.kernel.visit_source import device_of, referrer_host

MOZILLA = "Mozilla/5.0"


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (f"{MOZILLA} (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148", "phone"),
        (f"{MOZILLA} (Linux; Android 16; Pixel 9) AppleWebKit/537.36 Chrome/141.0 Mobile Safari/537.36", "phone"),
        (f"{MOZILLA} (Linux; Android 16; SM-X910) AppleWebKit/537.36 Chrome/141.0 Safari/537.36", "tablet"),
        (f"{MOZILLA} (iPad; CPU OS 12_2 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148", "tablet"),
        (f"{MOZILLA} (Android 16; Mobile; rv:143.0) Gecko/143.0 Firefox/143.0", "phone"),
        (f"{MOZILLA} (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "computer"),
        ("curl/8.5.0", "computer"),
        ("", "computer"),
    ],
)
def test_a_device_is_told_by_its_browser(agent: str, device: str) -> None:
    assert device_of(agent) == device


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("https://Chat.Example.org/channel?secret=1", "chat.example.org"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("https://example.org.:8443", "example.org"),
        ("https://own.example/l/abc", None),
        ("android-app://com.example", None),
        ("https://exa mple.org", None),
        ("https://[::1", None),
        (f"https://{'a' * 300}.org", None),
        ("about:blank", None),
        ("", None),
    ],
)
def test_of_the_page_before_nothing_but_its_host_is_kept(written: str, host: str | None) -> None:
    assert referrer_host(written, "own.example") == host
