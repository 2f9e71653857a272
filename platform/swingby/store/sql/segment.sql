-- A curve segment: which rows of which shard it holds, lists of steps that cells share, and a table an experiment.
create schema if not exists seg.curves;
create table if not exists seg.shards (shard varchar, first bigint, "rows" bigint);
create table if not exists seg.steps (number bigint, step bigint[]);
