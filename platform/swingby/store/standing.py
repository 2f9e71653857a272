"""Which row stands for a cell, and which pieces make its curves: a function of its rows, whatever their order."""

from __future__ import annotations

import pyarrow as pa

from swingby.store.tables import Connection, fetch
from swingby.store.views import quoted, retracted

RUN = "left(shard, length(shard) - 17) || '@' || s.host || ':' || s.pid"
"""A shard's name without its random end, and who wrote it: one attempt at one batch, whose segments follow each other.
Folders that ran the same sweep count attempts alike, and are told apart by the process."""

AFFECTED = """
select cell_id from ix.rows.{table} r semi join fresh using (cell_id)
group by cell_id having count(*) > 1 or not bool_and(final and from_step = 0 and not {back})"""
"""Of the cells that got rows just now, or lost some: those with anything but one final row from step 0 that was not
taken back; something must be chosen."""

# Rows that were taken back come last.
# Among final rows: a result before a failure, then more recordings, then the first. Without one: the latest attempt.
RANKED = """
create or replace temp table ranked as
select r.cell_id, r.sweep_id, r.attempt, r.curve, r.shard, r.place, r.from_step, r.to_step, r.final, {run} as run,
       {back} as back,
       row_number() over (
         partition by r.cell_id
         order by {back}, r.final desc,
                  r.final and r.status is not distinct from 'failed',
                  case when r.final then -len(r.recorded) else -r.attempt end,
                  case when r.final then s.finished end,
                  case when r.final then 0 else -r.to_step end,
                  r.shard, r.place) as rank
from ix.rows.{table} r join affected using (cell_id) join ix.shards s using (shard)"""

FORGET = (
    "delete from ix.dropped.{table} where cell_id in (select cell_id from affected)",
    "delete from ix.links.{table} where cell_id in (select cell_id from affected)",
)

DROP = "insert into ix.dropped.{table} select cell_id, curve from ranked where rank > 1 or back"

# A cell goes on from its own sweep's earlier attempts only (their checkpoints are the sweep's): before the run of the
# row that stands comes the latest earlier one that reaches its first step, and so on back to the start. Points that are
# not before the first step of the next one were computed again, so they go.
LINK = """
insert into ix.links.{table}
with recursive parts as (
  select p.*, h.curve as head, p.run = h.run as own from ranked p join ranked h using (cell_id, sweep_id)
  where h.rank = 1 and not h.back and not p.back
    and case when p.run = h.run then p.curve = h.curve or not p.final else p.attempt < h.attempt end
), runs as (
  select cell_id, attempt, run, any_value(own) as own, min(from_step) as start, max(to_step) as reach
  from parts group by cell_id, attempt, run
), chain as (
  select cell_id, attempt, run, start, null::bigint as before_step from runs where own
  union all
  (select r.cell_id, r.attempt, r.run, r.start, c.start as before_step
   from chain c join runs r on r.cell_id = c.cell_id and r.attempt < c.attempt and r.start < c.start
   qualify row_number() over (
     partition by r.cell_id order by r.reach >= c.start - 1 desc, r.attempt desc, r.reach desc, r.run desc) = 1)
), kept as (
  select parts.*, chain.before_step from parts join chain using (cell_id, run)
  where chain.before_step is null or from_step < chain.before_step
)
select cell_id, head, curve as part,
       row_number() over (partition by cell_id order by attempt, run, from_step, shard, place) as place, before_step
from kept qualify count(*) over (partition by cell_id) > 1"""


def statements(experiment: str) -> tuple[str, ...]:
    """What to run, in order, once `affected` is there: afterwards `dropped` and `links` are right for those cells."""
    table = quoted(experiment)
    return tuple(text.format(table=table, run=RUN, back=retracted("r")) for text in (RANKED, *FORGET, DROP, LINK))


def affected(experiment: str) -> str:
    """The query for the cells to look at, among those in `fresh`."""
    return AFFECTED.format(table=quoted(experiment), back=retracted("r"))


def settle(connection: Connection, experiment: str, fresh: pa.Table) -> None:
    """Chooses again for the cells that got rows, or lost some."""
    connection.register("fresh", fresh)
    touched = [cell for (cell,) in fetch(connection, affected(experiment))]
    connection.unregister("fresh")
    if not touched:
        return
    connection.register("affected", pa.table({"cell_id": pa.array(touched, pa.string())}))
    for statement in statements(experiment):
        connection.execute(statement)
    connection.unregister("affected")
