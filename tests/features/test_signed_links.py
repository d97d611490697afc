"""Links that the folder store signs, answered by the whole application."""

from collections.abc import AsyncGenerator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.application import Satchel


async def chunks(*parts: bytes) -> AsyncGenerator[bytes]:
    for part in parts:
        yield part


async def test_what_is_put_through_a_link_can_be_read_through_another(satchel: Satchel) -> None:
    objects, http = satchel.stores.objects, satchel.caller().http
    target = urlsplit(await objects.sign_put("a/b", timedelta(minutes=5), content_type="text/plain")).path
    assert (await http.put(target, content=b"hello", headers={"content-type": "text/plain"})).status_code == 200
    source = urlsplit(await objects.sign_get("a/b", timedelta(minutes=5), download_name="née.txt")).path
    answer = await http.get(source)
    assert answer.content == b"hello"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]
    part = await http.get(source, headers={"range": "bytes=1-3"})
    assert (part.status_code, part.content) == (206, b"ell")


async def test_a_link_is_for_one_method_one_type_and_a_while(satchel: Satchel) -> None:
    objects, http = satchel.stores.objects, satchel.caller().http
    await objects.put("a/b", chunks(b"hello"))
    target = urlsplit(await objects.sign_put("a/b", timedelta(minutes=5), content_type="text/plain")).path
    assert (await http.get(target)).status_code == 404
    assert (await http.put(target, content=b"x", headers={"content-type": "text/html"})).status_code == 415
    source = urlsplit(await objects.sign_get("a/b", timedelta(minutes=5))).path
    assert (await http.put(source, content=b"x")).status_code == 404
    assert (await http.get(source)).content == b"hello"
    satchel.clock.advance(timedelta(minutes=5))
    assert (await http.get(source)).status_code == 410


@pytest.mark.parametrize("token", ["x", "AAAA", "%00", "..%2F..%2Fsecret"])
async def test_a_link_that_was_never_given_out_leads_nowhere(satchel: Satchel, token: str) -> None:
    answer = await satchel.caller().http.get(f"/objects/{token}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
