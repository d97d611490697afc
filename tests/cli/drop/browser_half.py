"""The browser's half of the drop, run by Node beside the tests: without it each half would only agree with itself."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tools.site import WEB, find_node

_PEER = WEB / "tests" / "dropPeer.ts"
# What Vite bundles with, asked through Node because its own program is not the same thing on every machine.
_BUNDLER = """
import { buildSync } from 'esbuild';
const [peer, program] = process.argv.slice(1);
buildSync({ entryPoints: [peer], outfile: program, bundle: true, platform: 'node', format: 'esm' });
"""


class Refused(Exception):
    """The browser's half does not accept what it was given; `kind` is that of its error."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class BrowserHalf:
    """One who does what a page would do; each verb is a function of web/tests/dropPeer.ts."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def ask(self, verb: str, **said: object) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(msgspec.json.encode({"verb": verb, "said": said}) + b"\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = msgspec.json.decode(self._process.stdout.readline())
        if "refused" in answer:
            raise Refused(answer["refused"])
        return answer["answer"]


@contextmanager
def browser_half(folder: Path) -> Generator[BrowserHalf]:
    node = find_node().node
    program = folder / "peer.mjs"
    bundling = (node, "--input-type=module", "--eval", _BUNDLER, str(_PEER), str(program))
    subprocess.run(bundling, cwd=WEB, check=True)
    with subprocess.Popen([node, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield BrowserHalf(process)
