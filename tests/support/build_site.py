"""The documentation site: every .md file, tables of each experiment, and the API. `make docs` runs it.

Run as `python -m tests.support.build_site [FOLDER]` (default: `build/site`); it needs the extra `docs`. Pages of tables
and of the API are made here, and none of them is in git. The site loads nothing from a network, works from a disk, and
is refused where a link in it leads nowhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from swingby.model import registry
from swingby.text import first_sentence
from tests.support import generate_docs
from tests.support.places import ROOT

Nav = list[Any]
LINK = re.compile(r"\]\(([^)\s#]+)")
API = {
    "Functions, sweeps and stores": {
        "swingby.function.experiment": ("experiment",),
        "swingby.function.handle": ("CellHandle", "CellsHandle", "Streams", "Recorder", "Files"),
        "swingby.api": ("Sweep", "Results"),
        "swingby.store.reader": ("Store",),
    },
    "Features of a last layer": {  # users import these names from swingby.features
        "swingby_sweeps.dynamics.metrics.measure": (),
        "swingby_sweeps.dynamics.metrics.learned": (),
        "swingby_sweeps.dynamics.metrics.collapse": (),
        "swingby_sweeps.dynamics.metrics.spectrum": (),
    },
    "Experiments that are classes": {
        "swingby.model.experiment": (),
        "swingby.model.params": (),
        "swingby.model.cell": (),
        "swingby.model.detector": (),
        "swingby.model.row_detector": (),
        "swingby.model.drawing": (),
        "swingby.model.package": (),
    },
    "Pages and charts": {
        "swingby_analysis.page": (),
        "swingby_analysis.charts.maps": (),
        "swingby_analysis.charts.curves": (),
        "swingby_analysis.signals.noise": (),
        "swingby_analysis.signals.extrema": (),
        "swingby_analysis.stats.intervals": (),
        "swingby_analysis.stats.shrinkage": (),
    },
}
"""Pages of the API: modules, each with the names that are shown, or nothing for all that are public."""
TABLES = {
    "Parameters": generate_docs.parameters,
    "Presets": generate_docs.presets,
    "What a run leaves": generate_docs.results,
    "Recordings on request": generate_docs.recordings,
    "Outcomes": generate_docs.outcomes,
    "Drawings": generate_docs.drawings,
    "Named sweeps": generate_docs.sweeps,
    "Claims": generate_docs.claims,
    "Findings": generate_docs.findings,
}
"""Headings of an experiment's reference, and the tables below them."""
HIDDEN = ("tests/support/",)


def pages() -> list[str]:
    """The .md files of the site, relative to the root."""
    names = [path.relative_to(ROOT).as_posix() for path in generate_docs.files()]
    return [name for name in names if not name.startswith(HIDDEN)]


def staged(source: Path) -> Nav:
    """Writes the pages, and the files that they link to, into a folder; the navigation."""
    for name in pages():
        text = (ROOT / name).read_text(encoding="utf-8")
        write(source / name, text)
        for target in LINK.findall(generate_docs.prose(text)):
            linked = (ROOT / name).parent / unquote(target)
            if linked.is_file() and linked.suffix != ".md":
                place = source / linked.resolve().relative_to(ROOT)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(linked, place)
    for name in experiments():
        write(source / "reference" / f"{name}.md", reference(name))
    for title, modules in API.items():
        write(source / "api" / f"{slug(title)}.md", api(title, modules))
    return navigation()


def write(path: Path, text: str) -> None:
    """Writes a page, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def slug(title: str) -> str:
    """A title as the name of a file."""
    return re.sub(r"\W+", "-", title.lower())


def experiments() -> list[str]:
    """The experiments of this repository, in order."""
    return sorted(
        name for name, offer in registry.offered(registry.EXPERIMENTS).items() if "swingby_sweeps" in offer.value
    )


def reference(experiment: str) -> str:
    """The page of an experiment with all its tables; those without a row are left out."""
    tables = {heading: make(experiment) for heading, make in TABLES.items()}
    full = {heading: text for heading, text in tables.items() if text.count("\n") > 2}
    about = first_sentence(registry.experiment(experiment).__doc__)
    return "\n".join([f"# {experiment}\n\n{about}\n", *(f"## {head}\n\n{text}" for head, text in full.items())])


def api(title: str, modules: dict[str, Sequence[str]]) -> str:
    """A page of the API: a directive for each module."""
    blocks = [f"# {title}\n"]
    for module, members in modules.items():
        shown = f"    options:\n      members: {list(members)}\n" if members else ""
        blocks.append(f"::: {module}\n{shown}")
    return "\n".join(blocks)


def navigation() -> Nav:
    """The tree of pages; a page that no branch names is an error of the builder."""
    names = pages()

    def below(folder: str) -> Nav:
        return [name for name in names if name.startswith(folder) and "/" not in name.removeprefix(folder)]

    def named(*titles: str) -> Nav:
        return [f"docs/{title}.md" for title in titles]

    sciences: Nav = []
    for name in names:
        if re.fullmatch(r"sweeps/swingby_sweeps/\w+/README\.md", name):
            folder = name.removesuffix("README.md")
            sciences.append({folder.split("/")[-2]: [name, *below(folder + "docs/")]})
    return [
        {"Home": "README.md"},
        {
            "Running": [
                "platform/README.md",
                *named("sweep-files", "refining", "clusters", "importing", "verbs", "limits"),
            ]
        },
        {
            "Reading results": [
                "analysis/README.md",
                *named("reports", "publishing", "detectors-and-drawings", "statements"),
            ]
        },
        {"Guides": below("docs/guides/")},
        {"Examples": ["examples/README.md", *(n for n in names if re.fullmatch(r"examples/[\w-]+/README\.md", n))]},
        {
            "Experiments": [
                "sweeps/README.md",
                *named("functions", "last-layer-features", "packages", "phenomena"),
                *sciences,
            ]
        },
        {"Reference": [f"reference/{name}.md" for name in experiments()]},
        {"API": [f"api/{slug(title)}.md" for title in API]},
        {"Benchmarks": ["tests/benchmarks/README.md", *below("docs/benchmarks/")]},
        {"Decisions": below("docs/decisions/")},
        {"Project": [name for name in names if "/" not in name and name != "README.md"]},
    ]


def settings(source: Path, site: Path, nav: Nav) -> dict[str, Any]:
    """What MkDocs is told: Material without fonts of a network, anchors as GitHub makes them, every warning counts."""
    missing = {"not_found": "warn", "absolute_links": "warn"}
    paths = [str(ROOT / wing) for wing in ("platform", "analysis", "sweeps")]
    shown = {
        "docstring_style": "google",
        "docstring_options": {"warnings": False},  # several parameters share one line here
        "heading_level": 2,
        "members_order": "source",
        "separate_signature": True,
        "show_root_heading": True,
        "show_root_full_path": True,
        "show_signature_annotations": True,
        "show_source": False,
    }
    return {
        "site_name": "swingby",
        "docs_dir": str(source),
        "site_dir": str(site),
        "use_directory_urls": False,
        "nav": nav,
        "theme": {"name": "material", "font": False, "features": ["navigation.indexes", "navigation.tabs"]},
        "plugins": ["search", {"mkdocstrings": {"handlers": {"python": {"paths": paths, "options": shown}}}}],
        "markdown_extensions": [
            "tables",
            "sane_lists",
            {"toc": {"permalink": True, "slugify": "SLUGIFY"}},
            "pymdownx.superfences",
            {"pymdownx.highlight": {"use_pygments": True}},
        ],
        "validation": {
            "nav": {"omitted_files": "warn", **missing},
            "links": {"anchors": "warn", "unrecognized_links": "warn", **missing},
        },
    }


class Links(HTMLParser):
    """The ids of a page, its links, and what it loads."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes what one tag names."""
        values = {name: value for name, value in attrs if value is not None}
        self.ids |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if "src" in values or (tag == "link" and values.get("rel") in {"stylesheet", "icon", "preconnect", "preload"}):
            self.loaded.append(values.get("src") or values["href"])


def faults(site: Path) -> Iterator[str]:
    """Each link of a built site that leads nowhere, and each thing that a page would load from a network."""
    parsed: dict[Path, Links] = {}
    for path in sorted(site.rglob("*.html")):
        parsed[path] = Links()
        parsed[path].feed(path.read_text(encoding="utf-8"))
    for path, page in parsed.items():
        if path.name == "404.html":  # its links are those of a server's root
            continue
        name = path.relative_to(site)
        yield from (f"{name} loads {url}" for url in page.loaded if re.match(r"(https?:)?//", url))
        for url in [*page.links, *page.loaded]:
            if re.match(r"([a-z]+:|//)", url):
                continue
            place, _, anchor = unquote(url).partition("#")
            linked = (path.parent / place.partition("?")[0]).resolve() if place else path
            anchors = parsed[linked].ids if linked in parsed else {anchor}
            if not linked.is_file() or (anchor and anchor not in anchors):
                yield f"{name}: {url}"
    for path in sorted(site.rglob("*.css")):
        for url in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]+)", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {url}"


def main() -> int:
    """Builds the site and checks its links; 1 where a link leads nowhere."""
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    with tempfile.TemporaryDirectory() as folder:
        source, config = Path(folder) / "pages", Path(folder) / "mkdocs.yml"
        text = yaml.safe_dump(settings(source, site, staged(source)), sort_keys=False)
        slugify = "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"
        config.write_text(text.replace("SLUGIFY", slugify), encoding="utf-8")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", str(config)]
        # Without the notice that Material prints about its successor, which counts as no warning and reads like one.
        if code := subprocess.run(command, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False).returncode:
            return code
    wrong = list(faults(site))
    print(*wrong or [f"{site / 'index.html'}: {len(list(site.rglob('*.html')))} pages"], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
