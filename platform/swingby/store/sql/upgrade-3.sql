-- An index of version 3 becomes one of version 4.
alter table ix.plans add column decision varchar;
