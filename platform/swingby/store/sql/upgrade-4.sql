-- An index of version 4 becomes one of version 5, in which a cell has a result for each recording. Outcomes are of such a
-- result, and version 4 kept those of one of them: all derived records are taken in again.
create schema if not exists ix.spare;
drop schema ix.derived cascade;
create schema ix.derived;
delete from ix.records;
delete from ix.kinds;
