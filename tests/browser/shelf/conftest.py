"""A shelf that is filled over the API, and its owner in a browser."""

import base64
import hashlib
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import OpenPage, keep_session, sign_up
from tests.server.process import ServerProcess

EMAIL = "ann@example.org"


class Shelf:
    """What Ann has on her shelf, put there over the API."""

    def __init__(self, server: ServerProcess) -> None:
        self.client = server.client
        self.headers = sign_up(server, EMAIL, "Ann")

    def folder(self, name: str, within: str = "root") -> str:
        body = {"name": name, "folder_id": within}
        made = self.client.post("/api/v1/shelf/folders", headers=self.headers, json=body)
        assert made.status_code == 201, made.text
        return made.json()["id"]

    def put(
        self,
        name: str,
        content: bytes,
        folder: str,
        content_type: str = "",
        *,
        replaces: tuple[str, bytes] = ("", b""),
    ) -> str:
        """Its id; `replaces` has the id of a file, and what it contains."""
        said = {"destination": "shelf", "folder": folder, "filename": name, "filetype": content_type}
        if replaces[0]:
            said |= {"replaces": replaces[0], "replacedSha256": hashlib.sha256(replaces[1]).hexdigest()}
        metadata = ",".join(
            f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in said.items() if value
        )
        headers = {
            **self.headers,
            "tus-resumable": "1.0.0",
            "upload-length": str(len(content)),
            "upload-metadata": metadata,
            "content-type": "application/offset+octet-stream",
        }
        made = self.client.post("/api/v1/uploads", headers=headers, content=content)
        assert made.status_code == 201, made.text
        return made.headers["location"].rpartition("/")[2]

    def versions(self, file_id: str) -> list[dict[str, Any]]:
        return self.client.get(f"/api/v1/shelf/files/{file_id}/versions", headers=self.headers).json()["versions"]

    def names(self, folder: str) -> list[str]:
        query = {"folder": folder, "limit": 1000}
        answer = self.client.get("/api/v1/shelf/entries", headers=self.headers, params=query)
        return [entry["name"] for entry in answer.json()["entries"]]


@pytest.fixture(scope="module")
def shelf(server: ServerProcess) -> Shelf:
    return Shelf(server)


@pytest.fixture
def page(open_page: OpenPage, shelf: Shelf) -> Page:
    """Of Ann, who is signed in and has not opened anything yet."""
    opened = open_page()
    keep_session(opened, EMAIL)
    return opened
