"""The verb that shows a data folder to a browser: serve."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, DataFolder, say, tell
from swingby.errors import SwingbyError


def serve(
    data: DataFolder = DEFAULT_DATA,
    host: Annotated[str, typer.Option(help="The address to listen at; another than loopback needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0: any that is free.")] = 8350,
    token_file: Annotated[
        Path | None,
        typer.Option(help="Ask visitors for the token in this file (mode 600; made if missing).", show_default=False),
    ] = None,
    cert: Annotated[
        Path | None, typer.Option(help="Serve over TLS: the certificate chain (PEM).", show_default=False)
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The certificate's key (PEM).", show_default=False)] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Answer to this host name too; repeatable.", show_default=False),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, max=10_000_000, help="Most rows of an answer.")] = 100_000,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds until a query is killed.")] = 10.0,
    memory: Annotated[str, typer.Option(help="Memory a query may use.")] = "1GB",
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Queries that run side by side; others wait.")] = 2,
) -> None:
    """Shows a data folder in a browser while it fills: sweeps and their progress, reports, SQL; nothing can be changed.

    On 127.0.0.1, where every user of this machine can look unless there is a --token-file. At another --host visitors
    need a token: the one in --token-file, or one that is made and printed. From elsewhere an SSH tunnel will do:
    ssh -L 8350:127.0.0.1:8350 HOST. Ctrl-C ends it.

    Example:

        swingby serve --data data --port 8350
    """
    from swingby.store.remote_ingest import followed
    from swingby_analysis.serve import tokens
    from swingby_analysis.serve.queries import Limits
    from swingby_analysis.serve.server import Certificate, run

    if (cert is None) != (key is None):
        raise SwingbyError("--cert and --key go together: the certificate chain and its key, as PEM files")
    certificate = Certificate(cert, key) if cert is not None and key is not None else None
    with followed(data, tell):
        run(
            data,
            host,
            port,
            Limits(rows=rows, seconds=timeout, memory=memory, at_once=at_once),
            None if token_file is None else lambda: tokens.kept(token_file),
            certificate,
            frozenset(name or ()),
            say=lambda url: say(f"serving {data} at {url}"),
            warn=tell,
        )
