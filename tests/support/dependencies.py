"""The licences of everything that is installed, and its known vulnerabilities: what `make check-deps` prints.

Run as `python -m tests.support.dependencies`: a table of name, version and licence; exit code 1 for a licence that is
not on the list below, or for a known vulnerability. For vulnerabilities it asks pip-audit, where that is installed and
its database can be reached; where not, it says so.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions

from rich.console import Console
from rich.table import Table
from rich.text import Text

ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python", "ISC"),
        *("LLVM-exception", "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib"),
    }
)
"""What may be used beside Apache-2.0 without a word to anybody; MPL-2.0 asks for changes to its own files alone."""
OF_TORCH = re.compile(r"(nvidia|cuda)[-_].+", re.IGNORECASE)
"""Packages allowed by name: the CUDA libraries that torch's ordinary wheel requires, under NVIDIA's licence. They
are shown with it like any other, and nothing here ships them."""
SPELT = {
    r"apache(?: software license| license|[- ]2\.0| 2\.0 license| license,? (?:version )?2\.0)*": "Apache-2.0",
    r"(?:the )?mit(?: license)?": "MIT",
    r"(?:new |modified )?bsd(?: license)?": "BSD",
    r"(?:3-clause bsd|bsd[- ]3-clause)(?: license)?": "BSD-3-Clause",
    r"(?:2-clause bsd|bsd[- ]2-clause)(?: license)?": "BSD-2-Clause",
    r"isc(?: license)?(?: \(iscl\))?": "ISC",
    # Mozilla's own packages leave the version out; it is that of their sources.
    r"mozilla public license 2\.0 \(mpl 2\.0\)|mpl(?: 2\.0)?": "MPL-2.0",
    r"python software foundation license": "PSF-2.0",
}
"""How packages spell the names of licences that have a short one."""
AS_TEXT = {"atheris": "Apache-2.0", "axe-playwright-python": "MIT"}
"""Packages that say their licence in a file alone, and what that is."""
VAGUE = {"dual license", "dfsg approved", "osi approved", ""}
PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class Package:
    """One that is installed; `licence` as it says, `refused` the parts of it that are not on the list."""

    name: str
    version: str
    licence: str
    refused: tuple[str, ...]


def short(text: str) -> str:
    """A licence's short name, if it is spelt in a known way."""
    plain = " ".join(text.split()).casefold()
    return next((name for spelling, name in SPELT.items() if re.fullmatch(spelling, plain)), " ".join(text.split()))


def names_of(expression: str) -> list[list[str]]:
    """The licences of an SPDX expression: one of the lists has to be allowed as a whole.

    Where both AND and OR stand beside brackets, every one is asked for: that is never less than what is.
    """
    ways = [expression] if "(" in expression else re.split(r"\s+OR\s+", expression, flags=re.IGNORECASE)
    joint = r"\s+(?:AND|WITH|OR)\s+"
    return [[short(part.strip(" ()")) for part in re.split(joint, one, flags=re.IGNORECASE)] for one in ways]


def licence_of(found: Distribution) -> str:
    """What a package says its licence is: an SPDX expression, else its classifiers, else the old field's first line."""
    told = found.metadata
    (known, *_) = told.get_all("License-Expression") or [None]
    if known:
        return known
    classed = [line.rpartition("::")[2].strip() for line in told.get_all("Classifier") or () if line[:7] == "License"]
    classed = [line for line in classed if line.casefold() not in VAGUE]
    if classed:
        # Nobody says whether several are to choose from.
        return " AND ".join(dict.fromkeys(map(short, classed)))
    first = (told.get_all("License") or [""])[0].strip().partition("\n")[0]
    return short(first) if first.casefold() not in VAGUE else AS_TEXT.get(told["Name"].casefold(), "(none told)")


def looked_at(found: Iterable[Distribution], allowed: frozenset[str] = ALLOWED) -> list[Package]:
    """Every package once, by name."""
    packages = dict[str, Package]()
    for item in found:
        name = item.metadata["Name"]
        licence = licence_of(item)
        ways = [[part for part in one if part not in allowed] for one in names_of(licence)]
        refused = () if OF_TORCH.fullmatch(name) else tuple(min(ways, key=len))
        packages[name.casefold()] = Package(name, item.version, licence, refused)
    return [packages[name] for name in sorted(packages)]


def audited() -> tuple[str, bool]:
    """What pip-audit says of the installed packages, and whether it knows a vulnerability."""
    if importlib.util.find_spec("pip_audit") is None:
        return "vulnerabilities: not looked for, pip-audit is not installed (pip install pip-audit)", False
    command = [sys.executable, "-m", "pip_audit", "--local", "--skip-editable", "--format", "json", "--timeout", "15"]
    command += ["--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return f"vulnerabilities: not known, pip-audit had no answer within {PATIENCE:.0f} s", False
    try:
        told = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        return f"vulnerabilities: not known, pip-audit cannot ask its database ({last})", False
    lines = list(vulnerable(told))
    return "\n".join(lines or [f"vulnerabilities: none known in {len(told)} packages"]), bool(lines)


def vulnerable(told: Iterable[dict]) -> Iterator[str]:
    """A line for each known vulnerability in pip-audit's answer."""
    for item in told:
        for known in item.get("vulns", ()):
            fixed = ", ".join(known.get("fix_versions", ())) or "no version yet"
            yield f"vulnerable: {item['name']} {item['version']}: {known['id']}, mended in {fixed}"


def main() -> int:
    """Prints everything; 1 if a licence is not allowed or a vulnerability is known."""
    console = Console(highlight=False, soft_wrap=True)
    packages = looked_at(distributions())
    table = Table(show_edge=False, pad_edge=False)
    for column in ("package", "version", "licence"):
        table.add_column(column, overflow="fold")
    for package in packages:
        table.add_row(*map(Text, (package.name, package.version, package.licence)))
    console.print(table)
    refused = [package for package in packages if package.refused]
    for package in refused:
        parts = ", ".join(package.refused)
        console.print(
            f"not allowed: {package.name} {package.version}: {parts}; see tests/dependencies.py", markup=False
        )
    if not refused:
        console.print(f"licences: those of {len(packages)} packages are on the list")
    said, known = audited()
    console.print(said, markup=False)
    return 1 if refused or known else 0


if __name__ == "__main__":
    sys.exit(main())
