"""RO-Crate 1.1: the folder as a research object, with the run that made it, its code, versions and command.

Source: https://w3id.org/ro/crate/1.1.
"""

from __future__ import annotations

import json
import mimetypes
import shlex
from pathlib import Path
from typing import Any

from swingby import __version__
from swingby.archive.file import Recording
from swingby.archive.publication import listed
from swingby_analysis.publish.about import About, Author
from swingby_analysis.publish.croissant import PARQUET, cite
from swingby_analysis.publish.sources import Sources
from swingby_analysis.publish.tables import CELLS, CURVES

METADATA = "ro-crate-metadata.json"
CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    {name: f"https://schema.org/{name}" for name in ("creditText", "sha256")},  # newer than RO-Crate 1.1
]
TEXTS = {
    CELLS: "A row for each run: axes, outcomes, scalars and parameters.",
    CURVES: "A row for each run with its curves; what `swingby get` takes in.",
    "supplement.html": "The report as one page that works offline.",
    "sweep.json": "The sweep as it was run: axes, seeds, common parameters, what was recorded.",
    "README.md": "The data card.",
    "CITATION.cff": "How to cite the data.",
    "croissant.json": "The columns, in the Croissant format.",
}


def crate(about: About, header: Recording, sources: Sources, folder: Path) -> bytes:
    """The metadata of a folder that has every other file but the manifest."""
    files = listed(folder)
    people = [_person(author) for author in about.authors]
    authors = [{"@id": person["@id"]} for person in people]
    authors = authors[0] if len(authors) == 1 else authors  # a list of one is no good style in an RO-Crate
    parts = [
        {
            "@id": name,
            "@type": "File",
            "name": name,
            "contentSize": str(size),
            "encodingFormat": _format(name),
            "sha256": digest,
            **({"description": TEXTS[name]} if name in TEXTS else {}),
        }
        for name, (size, digest) in files.items()
    ]
    code = [name for name in files if name.startswith("code/")]
    versions = sources.provenance.get("versions") or {}
    programs = [
        {
            "@id": "#swingby",
            "@type": "SoftwareApplication",
            "name": "swingby",
            "version": str(versions.get("swingby") or __version__),
            "url": "https://pypi.org/project/swingby/",
            "softwareRequirements": [f"{name} {version}" for name, version in versions.items() if version],
        },
        {
            "@id": "#code",
            "@type": "SoftwareSourceCode",
            "name": f"The experiment {header.experiment}",
            "programmingLanguage": "Python",
            "version": str(header.stream_version),
            **({"identifier": sources.code} if sources.code else {}),
            **({"description": _commit(sources)} if _commit(sources) else {}),
            **({"hasPart": [{"@id": name} for name in code]} if len(code) > 1 else {}),
        },
    ]
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"The runs of sweep {header.name} ({header.sweep_id})",
        "description": shlex.join(str(part) for part in sources.provenance.get("command") or []) or "swingby run",
        "startTime": min(str(entry["started"]) for entry in header.computed),
        "endTime": max(str(entry["finished"]) for entry in header.computed),
        "instrument": [{"@id": "#swingby"}, {"@id": "#code"}],
        "object": {"@id": "sweep.json"},
        "result": [{"@id": CELLS}, {"@id": CURVES}],
        "agent": authors,
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": about.title,
        "description": about.description or about.title,
        "datePublished": about.date,
        "license": {"@id": about.licence.address},
        "author": authors,
        "creditText": cite(about),
        "identifier": f"{header.name}-{header.sweep_id}",
        "hasPart": [{"@id": name} for name in files],
        "mentions": {"@id": "#run"},
        **({"url": about.address} if about.address else {}),
    }
    licence = {
        "@id": about.licence.address,
        "@type": "CreativeWork",
        "name": about.licence.name,
        "description": f"The licence {about.licence.name}",
    }
    descriptor = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
    }
    graph = [descriptor, root, licence, *people, *programs, run, *parts]
    return f"{json.dumps({'@context': CONTEXT, '@graph': graph}, indent=1)}\n".encode()


def _person(author: Author) -> dict[str, Any]:
    place = f"https://orcid.org/{author.orcid}" if author.orcid else f"#{'-'.join(author.name.lower().split())}"
    parts = {"familyName": author.family, "givenName": author.first} if author.first else {}
    return {"@id": place, "@type": "Person", "name": author.name, **parts}


def _commit(sources: Sources) -> str:
    """Where the code came from, in words; "" if nobody knows."""
    commit = sources.provenance.get("git_commit")
    changed = " with changes that no commit holds" if sources.provenance.get("git_dirty") else ""
    package = f"package {sources.package}" if sources.package else ""
    return ", ".join(part for part in (package, f"commit {commit}{changed}" if commit else "") if part)


def _format(name: str) -> str:
    if name.endswith(".parquet"):
        return PARQUET
    known = {".cff": "text/yaml", ".yaml": "text/yaml", ".md": "text/markdown", ".py": "text/x-python"}
    return known.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
