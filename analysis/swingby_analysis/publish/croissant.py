"""Croissant 1.1: what the files are and what each column means, for tools of machine learning.

Source: MLCommons, "Croissant Format Specification", version 1.1, http://mlcommons.org/croissant/1.1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from swingby.archive.file import Recording
from swingby.archive.publication import listed
from swingby_analysis.publish.about import About, Author
from swingby_analysis.publish.tables import CELLS, CURVES, Columns

CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The standard context of version 1.1."""
PARQUET = "application/vnd.apache.parquet"
SETS = {CELLS: "cells", CURVES: "curves"}


def croissant(about: About, header: Recording, columns: Columns, folder: Path) -> bytes:
    """The description of the Parquet files of a folder."""
    texts = {CELLS: [(one.name, one.about.text) for one in columns.cells]}
    shared = [one for one in texts[CELLS] if one[0] in ("point", "seed")]
    texts[CURVES] = [*shared, *((name, of.text) for name, of in columns.curves.items())]
    files = listed(folder)
    value = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": about.name,
        "alternateName": about.title,
        "description": about.description or about.title,
        "url": about.address or f"urn:swingby:sweep:{header.sweep_id}",
        "license": about.licence.address,
        "version": "1.0.0",
        "datePublished": about.date,
        "creator": [creator(author) for author in about.authors],
        "citeAs": cite(about),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "description": text,
                "contentUrl": f"{about.address}/{name}" if about.address else name,
                "contentSize": f"{files[name][0]} B",
                "encodingFormat": PARQUET,
                "sha256": files[name][1],
            }
            for name, text in (
                (
                    CELLS,
                    "A row for each run, by points and seeds: axes, outcomes, scalars and parameters.",
                ),
                (CURVES, "A row for each run, in the same order, with its curves as lists."),
            )
        ],
        "recordSet": [
            _records(CELLS, "The runs.", texts[CELLS], folder),
            _records(CURVES, "The curves of the runs.", texts[CURVES], folder),
        ],
    }
    return f"{json.dumps(value, indent=1)}\n".encode()


def creator(author: Author) -> dict[str, str]:
    """An author in the words of schema.org."""
    orcid = {"@id": f"https://orcid.org/{author.orcid}"} if author.orcid else {}
    parts = {"familyName": author.family, "givenName": author.first} if author.first else {}
    return {"@type": "Person", **orcid, "name": author.name, **parts}


def cite(about: About) -> str:
    """The data set as a reference in one line."""
    names = "; ".join(f"{author.family}, {author.first}" if author.first else author.name for author in about.authors)
    address = f" {about.address}" if about.address else ""
    return f"{names} ({about.date[:4]}). {about.title} [Data set].{address}"


def _records(file: str, text: str, columns: Sequence[tuple[str, str]], folder: Path) -> dict[str, Any]:
    """A file's rows, with a field for each column that has a type in Croissant."""
    schema, of = pq.read_schema(folder / file), SETS[file]
    fields = []
    for name, meaning in columns:
        type_, depth = schema.field(name).type, 0
        while pa.types.is_list(type_):
            type_, depth = type_.value_type, depth + 1
        data_type = _type(type_)
        if data_type is not None:
            array = {"isArray": True, "arrayShape": ",".join(["-1"] * depth)} if depth else {}
            source = {"fileObject": {"@id": file}, "extract": {"column": name}}
            about = {"description": meaning} if meaning else {}
            common = {"@type": "cr:Field", "@id": f"{of}/{name}", "name": name}
            fields.append({**common, **about, "dataType": data_type, **array, "source": source})
    return {"@type": "cr:RecordSet", "@id": of, "name": of, "description": text, "field": fields}


def _type(type_: pa.DataType) -> str | None:
    """Croissant's name of a type; None for bytes, such as pictures."""
    if pa.types.is_boolean(type_):
        return "sc:Boolean"
    if pa.types.is_integer(type_):
        return "sc:Integer"
    if pa.types.is_floating(type_):
        return "sc:Float"
    return "sc:Text" if pa.types.is_string(type_) or pa.types.is_null(type_) else None
