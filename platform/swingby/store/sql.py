"""SQL from files: scripts and queries, with the names of tables filled in where an experiment gives them."""

from __future__ import annotations

from functools import cache


@cache
def script(name: str) -> str:
    """The text of `sql/<name>.sql`."""
    from importlib.resources import files

    return (files("swingby.store") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def statements(name: str) -> tuple[str, ...]:
    """The statements of a script, each without comments; a semicolon ends a line there, and nothing else does."""
    lines = [line for line in script(name).splitlines() if not line.startswith("--")]
    return tuple(part.strip() for part in "\n".join(lines).split(";\n") if part.strip(" \n;"))


def query(name: str, experiment: str, last_step: str = "steps") -> str:
    """The text of a script about an experiment: its table for {table}, its name as a literal for {name}, the column
    with a cell's last step for {last_step}.

    Of a row `r`: how fine it is recorded for {fineness}, whether its result was taken back for {retracted}, and whether
    it goes on from a row that is in no shard any more for {lost}.
    """
    places = {"table": quoted(experiment), "name": literal(experiment), "last_step": last_step}
    return script(name).format(**places, **{part: script(part) for part in ("fineness", "retracted", "lost")})


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"
