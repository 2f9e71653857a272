-- The index of a build: what every record says, apart from curves.
create table ix.state (format integer, revision bigint);
create table ix.plans (plan_id varchar, sweep_id varchar, name varchar, experiment varchar, title varchar,
  sequence bigint, cells bigint, created timestamp, stream_version bigint, git_commit varchar, git_dirty boolean,
  recording varchar[], resolved varchar, provenance varchar, batches varchar, decision varchar);
create table ix.members (sweep_id varchar, cell_id varchar, point integer);
create table ix.shards (shard varchar, plan_id varchar, sweep_id varchar, experiment varchar, batch bigint,
  attempt bigint, recorded varchar[], shape varchar, cells bigint, "rows" bigint, bytes bigint,
  started timestamp, finished timestamp, seconds double, host varchar, device varchar, pid bigint, versions varchar);
create table ix.bad (shard varchar, reason varchar, stamp varchar);
create table ix.columns (experiment varchar, name varchar, role varchar, ragged boolean);
create table ix.kinds (kind varchar, key varchar[]);
create table ix.records (record varchar);
create table ix.retractions (record varchar, reason varchar, sweep_id varchar, sweep varchar, who varchar,
  host varchar, command varchar, cells bigint, created timestamp);
create table ix.retracted (cell_id varchar, shard varchar, record varchar);
create table ix.lost (experiment varchar, cell_id varchar, curve bigint);
-- A table an experiment in each of these, and a table a kind of derived records in the last.
create schema ix.cells;
create schema ix.rows;
create schema ix.dropped;
create schema ix.spare;
create schema ix.links;
create schema ix.derived;
