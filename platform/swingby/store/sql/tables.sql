-- The columns of every table that a query of a user can name.
select table_name, column_name, data_type from duckdb_columns()
where database_name = current_database() and schema_name = 'main' and not internal
order by table_name, column_index
