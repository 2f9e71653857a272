"""Laws of the .md files: links lead somewhere, every page is reached, tables are current, shown commands exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from swingby.cli import app
from tests.support import generate_docs
from tests.support.build_site import API, faults
from tests.support.named import GROUP
from tests.support.places import ROOT

FILES = [str(path.relative_to(ROOT)) for path in generate_docs.files()]
LINK = re.compile(r"\]\(([^)\s]+)\)")
MOST_LINES = 150
MOST_WORDS = 2000


def prose(path: Path) -> str:
    """A file's text without its blocks of code."""
    return generate_docs.prose(path.read_text())


def links(path: Path) -> Iterator[tuple[str, Path, str]]:
    """The relative links of a file: each as it stands there, the file that it names, and the anchor in it."""
    for target in LINK.findall(prose(path)):
        if not re.match(r"[a-z]+:", target):
            place, _, anchor = target.partition("#")
            yield target, (path.parent / place).resolve() if place else path, anchor


@cache
def anchors(path: Path) -> set[str]:
    """The anchors of a file's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ +(.+)$", prose(path), flags=re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        found.add(next(name for name in (slug, *(f"{slug}-{i}" for i in range(1, 99))) if name not in found))
    return found


def test_the_files_are_those_of_the_wings() -> None:
    """Each wing and each experiment explains itself."""
    sciences = [path.parent for path in (ROOT / "sweeps" / "swingby_sweeps").glob("*/experiment.py")]
    expected = [ROOT / wing for wing in ("platform", "analysis", "sweeps")] + sciences
    assert [str(folder) for folder in expected if not (folder / "README.md").is_file()] == []
    assert len(sciences) >= 2


@pytest.mark.parametrize("name", FILES)
def test_every_link_leads_somewhere(name: str) -> None:
    """Each relative link names a file that is there, and each anchor a heading in it."""
    found = links(ROOT / name)
    assert [link for link, path, at in found if not path.exists() or (at and at not in anchors(path))] == []


def test_every_page_is_linked() -> None:
    """Who starts at the README comes to every page, and so does who starts at that of an experiment's folder."""
    reached, new = set[Path](), {ROOT / "README.md"}
    while new:
        reached |= new
        new = {path for page in new for _, path, _ in links(page) if path.suffix == ".md"} - reached
    pages = {ROOT / name for name in FILES if not name.startswith("tests/support/")}
    assert sorted(pages - reached) == []
    for page in pages:
        if page.parent.name == "docs" and page.parent.parent != ROOT:
            assert page in {path for _, path, _ in links(page.parents[1] / "README.md")}


def test_a_readme_is_no_book() -> None:
    """A README says what something is, how to use it and what it shows; longer texts are pages of their own."""
    words = {name: len((ROOT / name).read_text().split()) for name in FILES if name.endswith("README.md")}
    assert {name: count for name, count in words.items() if count > MOST_WORDS} == {}


def test_the_version_is_said_once() -> None:
    """The newest section of the changelog, the citation and the package have one version and date."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    newest = re.findall(r"^## ([\d.]+) - ([\d-]+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[0]
    citation = (ROOT / "CITATION.cff").read_text()
    assert newest[0] == version
    assert f"\nversion: {version}\ndate-released: {newest[1]}\n" in citation


@pytest.mark.parametrize("name", sorted({module for modules in API.values() for module in modules}))
def test_the_modules_of_the_api_are_there(name: str) -> None:
    """Each module that the site's pages of the API describe exists, with the names that they show."""
    module = import_module(name)
    shown = next(modules[name] for modules in API.values() if name in modules)
    assert [member for member in shown if not hasattr(module, member)] == []
    assert module.__doc__


@pytest.mark.xdist_group(GROUP)
@pytest.mark.parametrize("name", FILES)
def test_generated_tables_are_current(name: str) -> None:
    """What stands between the markers is what the code says now: `python -m tests.support.generate_docs` renews it."""
    text = (ROOT / name).read_text()
    assert generate_docs.renewed(text) == text
    assert text.count("<!-- begin:") == text.count("<!-- end:") == len(generate_docs.BLOCK.findall(text))


def test_what_is_wrong_in_a_built_site_is_named(tmp_path: Path) -> None:
    """A link to no page, one to no heading of a page, and whatever comes from a network; and nothing else."""
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#end">b</a><a href="#top">a</a>')
    (tmp_path / "b.html").write_text('<a href="c.html">c</a><a href="a.html#no">a</a><a href="https://x.org">x</a>')
    (tmp_path / "d.html").write_text(
        '<p id="end"></p><script src="https://x.org/y.js"></script><a href="d.html#end">d</a>'
    )
    assert list(faults(tmp_path)) == [
        "a.html: b.html#end", "b.html: c.html", "b.html: a.html#no", "d.html loads https://x.org/y.js",
    ]  # fmt: skip


def test_the_readme_is_short() -> None:
    """Whoever comes here first reads a few pages, and finds the rest by links."""
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert max(map(len, text.splitlines())) <= 400


def examples(text: str | None) -> Iterator[str]:
    """The commands under `Example:` in a help text."""
    yield from re.findall(r"^ *(swingby [a-z].*)$", (text or "").partition("Example")[2], flags=re.MULTILINE)


@pytest.mark.parametrize("verb", [name for name, _ in generate_docs.commands()])
def test_every_verb_has_an_example_that_parses(verb: str) -> None:
    """Each verb's help has an example of that verb, whose words and options the verb takes."""
    command = dict(generate_docs.commands())[verb]
    found = list(examples(command.help))
    assert found, "no example"
    for line in found:
        parse(shlex.split(line))
    assert any(line.startswith(f"swingby {verb}") for line in found)


def parse(words: list[str]) -> None:
    """Parses a command's words and runs nothing.

    Raises:
        click.UsageError: a word or an option is none of the command's.
    """
    group: Any = typer.main.get_command(app)
    context = typer.Context(group)
    words = words[1:]
    while hasattr(group, "commands") or hasattr(group, "get_command"):
        name, group, words = words[0], group.get_command(context, words[0]), words[1:]
        assert group is not None, f"no verb {name}"
    group.make_context(words and words[0], list(words))


def shown_commands() -> list[tuple[str, str]]:
    """Every `swingby ...` line in a block of code of the .md files, without its remark."""
    found = []
    for name in FILES:
        for block in re.findall(r"^```\n(.*?)^```", (ROOT / name).read_text(), flags=re.DOTALL | re.MULTILINE):
            for line in re.findall(r"^\$? ?(swingby [a-z].*)$", block, flags=re.MULTILINE):
                found += [
                    (name, part.strip())
                    for part in re.split(r" {2,}#|&&|>", line)
                    if part.strip().startswith("swingby ")
                ]
    return found


@pytest.mark.parametrize(("name", "line"), shown_commands())
def test_every_command_that_is_shown_parses(name: str, line: str) -> None:
    """What a reader copies from a .md file is a command with options that exist."""
    parse(shlex.split(line))
