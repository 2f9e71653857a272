-- An index of version 2 becomes one of version 3.
create table ix.lost (experiment varchar, cell_id varchar, curve bigint);
