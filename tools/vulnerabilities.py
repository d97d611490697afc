"""Ask the advisory services of PyPI and npm about every dependency; say loudly when they cannot be reached.

A known vulnerability fails, and so does a program that failed for another reason. What could not be asked does not: a
build without the network is no worse than before. It says so, for the person who reads it.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

Done: TypeAlias = "subprocess.CompletedProcess[str]"

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
# What pip-audit and npm say of a service that does not answer them.
_UNREACHABLE = (
    *("ConnectionError", "Failed to establish a new connection", "Max retries exceeded", "Name or service not known"),
    *("NameResolutionError", "Temporary failure in name resolution", "ProxyError", "ConnectTimeout", "ReadTimeout"),
    *("Network is unreachable", "Connection refused", "ServiceError", "SSLError", "timed out"),
    *("ENOTFOUND", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "EAI_AGAIN", "ENOAUDIT", "ENETUNREACH", "EHOSTUNREACH"),
    *("Not Found - POST", "Method Not Allowed - POST", "Forbidden - POST"),
)
_SECONDS = 120
# A version of its own, because nothing else needs it.
_AUDIT = ("pip-audit==2.9.0", "--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json")

Outcome = tuple[Literal["clean", "unasked", "found", "failed"], str]


def python_outcome() -> Outcome:
    """What pip-audit finds in the locked packages, those of development included."""
    uv = str(Path(sys.executable).with_name("uv"))
    export = (uv, "export", "--frozen", "--all-groups", "--all-extras", "--no-hashes", "--no-emit-project", "--quiet")
    listed = _run(export, ROOT)
    if listed.returncode != 0:
        return "failed", listed.stderr
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as locked:
        locked.write(listed.stdout)
        locked.flush()
        return judged_python(_run((uv, "tool", "run", "--quiet", *_AUDIT, "--requirement", locked.name), ROOT))


def web_outcome() -> Outcome:
    """What `npm audit` finds in the lock file."""
    return judged_web(_run((shutil.which("npm") or "npm", "audit", "--json"), WEB))


def judged_python(done: Done) -> Outcome:
    report = _report_of(done)
    if "dependencies" not in report:
        return _silent(done)
    packages = report["dependencies"]
    if found := [
        f"{package['name']} {package['version']}: {each['id']}, fixed in {', '.join(each['fix_versions']) or 'none'}"
        for package in packages
        for each in package.get("vulns", ())
    ]:
        return "found", "\n".join(found)
    # It calls packages clean that it could not ask about.
    if skipped := [package["skip_reason"] for package in packages if "skip_reason" in package]:
        return "unasked", f"{len(skipped)} of {len(packages)} packages. {skipped[0]}"
    return "clean", ""


def judged_web(done: Done) -> Outcome:
    report = _report_of(done)
    if "vulnerabilities" not in report:
        return _silent(done)
    found = [f"{name}: {about['severity']}" for name, about in report["vulnerabilities"].items()]
    return ("found", "\n".join(found)) if found else ("clean", "")


def _report_of(done: Done) -> dict[str, Any]:
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return {}
    return cast("dict[str, Any]", report) if isinstance(report, dict) else {}


def _silent(done: Done) -> Outcome:
    """Of a program that made no report: whether the network is to blame."""
    said = f"{done.stdout}\n{done.stderr}".strip()
    sign = next((line for line in said.splitlines() if any(sign in line for sign in _UNREACHABLE)), None)
    return ("failed", said[-1000:]) if sign is None else ("unasked", sign.strip())


def _run(command: Sequence[str], folder: Path) -> Done:
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "timed out")
    except FileNotFoundError as error:
        return subprocess.CompletedProcess(command, 1, "", f"{error.filename} is not installed")


def main() -> int:
    worst = 0
    for what, (kind, said) in (("Python", python_outcome()), ("npm", web_outcome())):
        match kind:
            case "clean":
                print(f"{what}: no dependency has a known vulnerability.")
            case "unasked":
                print(f"NOT CHECKED: nobody could be asked about vulnerabilities of {what} packages.")
                print(f"  {said}")
                print("  Run `make audit` where the advisory services of PyPI and npm can be reached.")
            case "found":
                print(f"{what}: dependencies with known vulnerabilities:\n{said}")
                worst = 1
            case "failed":
                print(f"{what}: the audit itself failed:\n{said}")
                worst = 1
    return worst


if __name__ == "__main__":
    sys.exit(main())
