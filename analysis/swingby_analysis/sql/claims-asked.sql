asked as (
    select distinct unnest(regexp_extract_all(query, '''([0-9a-f]{16})''', 1)) as sweep_id from claims_queries
)
