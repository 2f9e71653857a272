"""Which row stands for a cell, and which pieces make its curves: a function of its rows, whatever their order."""

from __future__ import annotations

import pyarrow as pa

from swingby.model.experiment import AFTER
from swingby.store.tables import Connection, fetch
from swingby.store.views import literal, quoted, retracted

RUN = "left(shard, length(shard) - 17) || '@' || s.host || ':' || s.pid"
"""A shard's name without its random end, and who wrote it: one attempt at one batch, whose segments follow each other.
Folders that ran the same sweep count attempts alike, and are told apart by the process."""

AFFECTED = """
select cell_id from ix.rows.{table} r semi join fresh using (cell_id)
group by cell_id having count(*) > 1 or not bool_and(final and from_step = 0 and not {back})"""
"""Of the cells that got rows just now, or lost some: those with anything but one final row from step 0 that was not
taken back; something must be chosen."""

# Within a run each row goes on from the one before it; a stretch is as many as do. Where one is gone the next begins.
KNOWN = """
create or replace temp table known as
select *, sum(broken::int) over (
    partition by cell_id, sweep_id, run, back order by from_step, shard, place rows unbounded preceding) as stretch
from (
  select r.cell_id, r.sweep_id, r.attempt, r.curve, r.shard, r.place, r.from_step, r.to_step, r.{after}, r.final,
         r.status, len(r.recorded) as recordings, s.finished, {run} as run, {back} as back,
         r.{after} is not null and not coalesce(
           r.{after} between lag(r.from_step) over rows_of_run and lag(r.to_step) over rows_of_run, false) as broken
  from ix.rows.{table} r join affected using (cell_id) join ix.shards s using (shard)
  window rows_of_run as (partition by r.cell_id, r.sweep_id, {run}, {back} order by r.from_step, r.shard, r.place))"""

# A stretch that goes on from a step needs an earlier one that has it, and so on back to one that goes on from none.
SOUND = """
create or replace temp table sound as
with recursive stretches as (
  select cell_id, sweep_id, run, stretch, attempt, min(from_step) as start, max(to_step) as reach,
         first({after} order by from_step, shard, place) as need
  from known where not back group by cell_id, sweep_id, run, stretch, attempt
), sound as (
  select * from stretches where need is null
  union
  select p.* from sound q join stretches p using (cell_id, sweep_id)
  where p.need between q.start and q.reach and (q.attempt < p.attempt or (q.run = p.run and q.stretch < p.stretch))
)
from sound"""

# Rows that were taken back, or that go on from what is gone, come last.
# Among final rows: a result before a failure, then more recordings, then the first. Without one: the latest attempt.
RANKED = """
create or replace temp table ranked as
select *, back or lost as out,
       row_number() over (
         partition by cell_id
         order by back or lost, final desc,
                  final and status is not distinct from 'failed',
                  case when final then -recordings else -attempt end,
                  case when final then finished end,
                  case when final then 0 else -to_step end,
                  shard, place) as rank
from (select k.*, not back and not exists (
        select 1 from sound s
        where (s.cell_id, s.sweep_id, s.run, s.stretch) = (k.cell_id, k.sweep_id, k.run, k.stretch)
      ) as lost from known k)"""

FORGET = (
    "delete from ix.dropped.{table} where cell_id in (select cell_id from affected)",
    "delete from ix.links.{table} where cell_id in (select cell_id from affected)",
    "delete from ix.lost where experiment = {name} and cell_id in (select cell_id from affected)",
)

DROP = (
    "insert into ix.dropped.{table} select cell_id, curve from ranked where rank > 1 or out",
    "insert into ix.lost select {name}, cell_id, curve from ranked where lost",
)

# A cell goes on from its own sweep's earlier attempts only (their checkpoints are the sweep's): before the stretch of
# the row that stands comes the latest earlier one that has the step it goes on from (or, where it does not say, the one
# before its first), and so on back to the start. Points that are not before the first step of the next one were
# computed again, so they go.
LINK = """
insert into ix.links.{table}
with recursive parts as (
  select p.*, h.curve as head, p.run = h.run and p.stretch = h.stretch as own
  from ranked p join ranked h using (cell_id, sweep_id)
  where h.rank = 1 and not h.out and not p.out
    and case when p.run = h.run then p.curve = h.curve or not p.final else p.attempt < h.attempt end
), runs as (
  select cell_id, attempt, run, stretch, any_value(own) as own, min(from_step) as start, max(to_step) as reach,
         coalesce(first({after} order by from_step, shard, place), min(from_step) - 1) as need
  from parts group by cell_id, attempt, run, stretch
), chain as (
  select cell_id, attempt, run, stretch, start, need, null::bigint as before_step from runs where own
  union all
  (select r.cell_id, r.attempt, r.run, r.stretch, r.start, r.need, c.start as before_step
   from chain c join runs r on r.cell_id = c.cell_id and r.start < c.start
     and (r.attempt < c.attempt or (r.run = c.run and r.stretch < c.stretch))
   qualify row_number() over (
     partition by r.cell_id
     order by r.reach >= c.need desc, r.attempt desc, r.stretch desc, r.reach desc, r.run desc) = 1)
), kept as (
  select parts.*, chain.before_step from parts join chain using (cell_id, run, stretch)
  where chain.before_step is null or from_step < chain.before_step
)
select cell_id, head, curve as part,
       row_number() over (partition by cell_id order by attempt, run, from_step, shard, place) as place, before_step
from kept qualify count(*) over (partition by cell_id) > 1"""


def statements(experiment: str) -> tuple[str, ...]:
    """What to run, in order, once `affected` is there: afterwards `dropped`, `links` and `lost` are right for those
    cells."""
    back = retracted("r")
    told = {"table": quoted(experiment), "name": literal(experiment), "run": RUN, "back": back, "after": AFTER}
    return tuple(text.format(**told) for text in (KNOWN, SOUND, RANKED, *FORGET, *DROP, LINK))


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
