-- Which row of each recording is the result of each cell in `affected`, which of these its table shows to whoever asks
-- for no sweep, and which pieces make their curves: a function of the cells' rows, whatever their order. Afterwards
-- ix.dropped, ix.spare, ix.links and ix.lost are right for these cells.

-- A run is one attempt at one batch, whose segments follow each other: a shard's name without its random end, and who
-- wrote it. Folders that ran the same sweep count attempts alike, and are told apart by the process. Within a run each
-- row goes on from the one before it; a stretch is as many as do. Where one is gone the next begins.
create or replace temp table known as
select *, sum(broken::int) over (
    partition by cell_id, sweep_id, run, back order by from_step, shard, place rows unbounded preceding) as stretch
from (
  select *, after_step is not null and not coalesce(
           after_step between lag(from_step) over rows_of_run and lag(to_step) over rows_of_run, false) as broken
  from (
    select r.cell_id, r.sweep_id, r.attempt, r.curve, r.shard, r.place, r.from_step, r.to_step, r.after_step, r.final,
           r.status, s.finished, len(r.recorded) as recordings, {fineness} as fineness,
           list_filter(r.recorded, lambda token: not starts_with(token, 'code:')) as recording,
           left(shard, length(shard) - 17) || '@' || s.host || ':' || s.pid as run,
           exists (select 1 from ix.retracted t where t.cell_id = r.cell_id and t.shard = r.shard) as back
    from ix.rows.{table} r join affected using (cell_id) join ix.shards s using (shard))
  window rows_of_run as (partition by cell_id, sweep_id, run, back order by from_step, shard, place));

-- A stretch that goes on from a step needs an earlier one that has it, and so on back to one that goes on from none.
create or replace temp table sound as
with recursive stretches as (
  select cell_id, sweep_id, run, stretch, attempt, min(from_step) as start, max(to_step) as reach,
         first(after_step order by from_step, shard, place) as need
  from known where not back group by cell_id, sweep_id, run, stretch, attempt
), sound as (
  select * from stretches where need is null
  union
  select p.* from sound q join stretches p using (cell_id, sweep_id)
  where p.need between q.start and q.reach and (q.attempt < p.attempt or (q.run = p.run and q.stretch < p.stretch))
)
from sound;

-- Rows that were taken back, or that go on from what is gone, come last. Of each recording there is one head: a result
-- before a failure, then the first; without a final row the latest attempt. A later run of the same recording changes no
-- result therefore. Among the heads of a cell: the finest, then the one with more recordings, then the first.
create or replace temp table ranked as
select *, of_recording = 1 and not out as head,
       row_number() over (
         partition by cell_id
         order by of_recording > 1 or out, final desc,
                  final and status is not distinct from 'failed',
                  fineness desc, recordings desc, case when final then 0 else -attempt end,
                  case when final then finished end,
                  case when final then 0 else -to_step end,
                  shard, place) as rank
from (select *, back or lost as out,
             row_number() over (
               partition by cell_id, recording
               order by back or lost, final desc,
                        final and status is not distinct from 'failed',
                        case when final then 0 else -attempt end,
                        case when final then finished end,
                        case when final then 0 else -to_step end,
                        shard, place) as of_recording
      from (select k.*, not back and not exists (
              select 1 from sound s
              where (s.cell_id, s.sweep_id, s.run, s.stretch) = (k.cell_id, k.sweep_id, k.run, k.stretch)
            ) as lost from known k));

delete from ix.dropped.{table} where cell_id in (select cell_id from affected);
delete from ix.spare.{table} where cell_id in (select cell_id from affected);
delete from ix.links.{table} where cell_id in (select cell_id from affected);
delete from ix.lost where experiment = {name} and cell_id in (select cell_id from affected);

insert into ix.dropped.{table} select cell_id, curve from ranked where not head;
insert into ix.spare.{table} select cell_id, curve from ranked where head and rank > 1;
insert into ix.lost select {name}, cell_id, curve from ranked where lost;

-- A cell goes on from its own sweep's earlier attempts only (their checkpoints are the sweep's): before the stretch of
-- the row that is the result comes the latest earlier one that has the step it goes on from (or, where it does not say,
-- the one before its first), and so on back to the start. Points that are not before the first step of the next one
-- were computed again, so they go.
insert into ix.links.{table}
with recursive parts as (
  select p.* exclude (head), h.curve as head, p.run = h.run and p.stretch = h.stretch as own
  from ranked p join ranked h using (cell_id, sweep_id)
  where h.head and not p.out
    and case when p.run = h.run then p.curve = h.curve or not p.final else p.attempt < h.attempt end
), runs as (
  select cell_id, head, attempt, run, stretch, any_value(own) as own, min(from_step) as start, max(to_step) as reach,
         coalesce(first(after_step order by from_step, shard, place), min(from_step) - 1) as need
  from parts group by cell_id, head, attempt, run, stretch
), chain as (
  select cell_id, head, attempt, run, stretch, start, need, null::bigint as before_step from runs where own
  union all
  (select r.cell_id, r.head, r.attempt, r.run, r.stretch, r.start, r.need, c.start as before_step
   from chain c join runs r on r.head = c.head and r.start < c.start
     and (r.attempt < c.attempt or (r.run = c.run and r.stretch < c.stretch))
   qualify row_number() over (
     partition by r.head
     order by r.reach >= c.need desc, r.attempt desc, r.stretch desc, r.reach desc, r.run desc) = 1)
), kept as (
  select parts.*, chain.before_step from parts join chain using (cell_id, head, run, stretch)
  where chain.before_step is null or from_step < chain.before_step
)
select cell_id, head, curve as part,
       row_number() over (partition by head order by attempt, run, from_step, shard, place) as place, before_step
from kept qualify count(*) over (partition by head) > 1;
