-- An index of version 1 becomes one of version 2.
create table ix.retractions (record varchar, reason varchar, sweep_id varchar, sweep varchar, who varchar,
  host varchar, command varchar, cells bigint, created timestamp);
create table ix.retracted (cell_id varchar, shard varchar, record varchar);
