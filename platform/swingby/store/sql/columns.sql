-- The columns of every table that the index and the segments have, apart from their own.
select database_name, schema_name, table_name, column_name, data_type from duckdb_columns()
where schema_name in ('cells', 'rows', 'curves', 'derived') and database_name <> 'temp'
order by database_name, schema_name, table_name, column_index
