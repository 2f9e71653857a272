"""The verb `serve`: shows a data folder in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swingby.cli.console import DEFAULT_DATA, LOOK, DataFolder, panel, say, tell
from swingby.errors import SwingbyError


@panel(LOOK)
def serve(
    data: DataFolder = DEFAULT_DATA,
    host: Annotated[str, typer.Option(help="The address to listen at; at any but loopback visitors need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 8350,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="Ask visitors for the token in this file; a missing file is made (mode 600).", show_default=False
        ),
    ] = None,
    cert: Annotated[
        Path | None, typer.Option(help="Serve over TLS with this certificate chain (PEM).", show_default=False)
    ] = None,
    key: Annotated[Path | None, typer.Option(help="The key of the certificate (PEM).", show_default=False)] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A further host name under which the server answers; repeatable.", show_default=False),
    ] = None,
    rows: Annotated[int, typer.Option(min=1, max=10_000_000, help="The most rows that a query may return.")] = 100_000,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds after which a query is stopped.")] = 10.0,
    memory: Annotated[str, typer.Option(help="The memory that a query may use.")] = "1GB",
    at_once: Annotated[int, typer.Option(min=1, max=64, help="Queries that run at once; others wait.")] = 2,
) -> None:
    """Shows a data folder in a browser while it fills: sweeps and their progress, reports, SQL; nothing can be changed.

    By default on 127.0.0.1, where every user of this machine can read the pages unless there is a --token-file. At
    another --host visitors need a token: the one in --token-file, or a new one, which is printed with the address.
    From another machine the pages can be read through an SSH tunnel: ssh -L 8350:127.0.0.1:8350 HOST.
    Ctrl-C ends the server.

    Example:

        swingby serve --data data --port 8350
    """
    from swingby.store.remote_ingest import followed
    from swingby_analysis.serve.guard import token_in
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
            None if token_file is None else lambda: token_in(token_file),
            certificate,
            frozenset(name or ()),
            say=lambda url: say(f"serving {data} at {url}"),
            warn=tell,
        )
