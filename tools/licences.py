"""Check the licence of every dependency, of Python and of the web app, against the list of those that we accept."""

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageMetadata, distributions
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parent.parent / "web" / "package-lock.json"
# Permissive ones, and those that bind only changes of the library itself.
ACCEPTED = {
    *("MIT", "MIT-0", "MIT-CMU", "ISC", "0BSD", "BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "Zlib", "CC0-1.0"),
    *("BlueOak-1.0.0", "Python-2.0", "PSF-2.0", "CNRI-Python", "ZPL-2.1", "TCL", "MPL-2.0"),
    *("LGPL-2.1-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later"),
    # Of fonts: it binds fonts that are made from them.
    "OFL-1.1",
}
# What classifiers of older packages call them.
SPELLINGS = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "GNU Lesser General Public License v3 or later (LGPLv3+)": "LGPL-3.0-or-later",
}

# Classifiers that say nothing of the licence itself.
APPROVALS = {"OSI Approved", "DFSG approved"}
# Read by a person, because the package does not say it in a form that a program reads.
LOOKED_AT = {
    # MIT, by its readme.
    "combine-errors",
    # BSD-3-Clause or Apache-2.0; PDFium and what it contains are permissive.
    "pypdfium2",
    # BSD-3-Clause, with the MIT licence of the code it began with.
    "qrcode",
}


def python_licences() -> Iterator[tuple[str, str]]:
    for each in distributions():
        about = each.metadata
        classifiers = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
        named = "; ".join(name for line in classifiers if (name := line.rpartition(" :: ")[2]) not in APPROVALS)
        yield about["Name"], _first(about, "License-Expression") or named or _first(about, "License")


def _first(about: PackageMetadata, field: str) -> str:
    """The first line of a field, which may be missing."""
    return str((about.get_all(field) or [""])[0]).partition("\n")[0]


def web_licences() -> Iterator[tuple[str, str]]:
    packages: dict[str, dict[str, Any]] = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    for path, about in packages.items():
        if path:
            yield path.rpartition("node_modules/")[2], about.get("license") or ""


def is_accepted(written: str) -> bool:
    """All parts have to be accepted, or one of each choice."""
    parts = re.split(r" AND |; |, ", written[1:-1] if written.startswith("(") else written)
    return all(any(SPELLINGS.get(one, one) in ACCEPTED for one in part.split(" OR ")) for part in parts)


def main() -> int:
    refused = sorted(
        f"{name}: {written or 'says no licence'}"
        for name, written in (*python_licences(), *web_licences())
        if name not in LOOKED_AT and not is_accepted(written)
    )
    if refused:
        print("These dependencies have licences that are not in tools/licences.py:", *refused, sep="\n  ")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
