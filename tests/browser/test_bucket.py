"""Large files between a real browser and the bucket, past the server; where that fails, through it."""

import hashlib
import random
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Serve, sign_in, sign_up
from tests.server.process import ServerProcess
from tests.services import S3Server, rclone_s3

pytestmark = pytest.mark.services

EMAIL = "ann@example.org"
LARGE_BYTES = 20 * 1024**2 + 1


@pytest.fixture(scope="module")
def bucket() -> Generator[S3Server]:
    # Of a real bucket one would name the one origin; here its port is not known yet.
    with rclone_s3("--allow-origin", "*") as s3:
        yield s3


@pytest.fixture(scope="module")
def server(serve: Serve, data: Path, bucket: S3Server) -> Generator[ServerProcess]:
    objects = f"s3://{bucket.bucket}?endpoint={bucket.endpoint}&public={bucket.endpoint}"
    with serve(data, environment={"SATCHEL_OBJECTS": objects, **bucket.environment()}) as running:
        sign_up(running, EMAIL, "Ann")
        yield running


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.bin"
    path.write_bytes(random.randbytes(LARGE_BYTES))
    return path


def upload(page: Page, file: Path, asked: list[tuple[str, str]]) -> None:
    page.on("request", lambda request: asked.append((request.method, request.url)))
    page.locator("input[type=file]").first.set_input_files(file)
    expect(page.get_by_text("One file uploaded")).to_be_visible(timeout=60_000)
    entries = page.request.get("/api/v1/shelf/entries").json()["entries"]
    stored = {entry["name"]: entry["sha256"] for entry in entries}
    assert stored[file.name] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_large_file_goes_to_the_bucket_and_comes_from_it(open_page: OpenPage, bucket: S3Server, large: Path) -> None:
    page = open_page()
    sign_in(page, EMAIL)
    asked: list[tuple[str, str]] = []
    upload(page, large, asked)
    sent = [urlsplit(url).netloc for method, url in asked if method == "PUT"]
    assert sent == [urlsplit(bucket.endpoint).netloc] * 3
    assert "PATCH" not in {method for method, _ in asked}
    (entry,) = page.request.get("/api/v1/shelf/entries").json()["entries"]
    with page.expect_download() as saving:
        page.evaluate(
            "(address) => Object.assign(document.createElement('a'), { href: address, download: '' }).click()",
            f"/api/v1/shelf/files/{entry['id']}/content",
        )
    assert urlsplit(saving.value.url).netloc == urlsplit(bucket.endpoint).netloc
    assert saving.value.suggested_filename == "large.bin"
    assert Path(saving.value.path()).read_bytes() == large.read_bytes()


def test_where_the_bucket_refuses_the_server_takes_the_file(open_page: OpenPage, bucket: S3Server, large: Path) -> None:
    page = open_page(may_fail=True, intercepted=True)
    page.route(f"{bucket.endpoint}/**", lambda route: route.abort())
    sign_in(page, EMAIL)
    asked: list[tuple[str, str]] = []
    file = large.rename(large.with_name("refused.bin"))
    upload(page, file, asked)
    assert "PATCH" in {method for method, _ in asked}
