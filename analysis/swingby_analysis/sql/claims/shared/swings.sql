-- Of every run the largest retreat of an output before it reaches a new height.
entries as (
    select
        convention, cell_id, seed, d, width, k, unnest(list_transform(output, lambda f: f[k] / mu[k])) as r,
        unnest(step) as at_step
    from runs, (values (1), (2)) c(k)
),
heights as (
    select
        *, max(r) over (run order by at_step) as so_far,
        max(r) over (run order by at_step rows between current row and unbounded following) as later
    from entries
    window run as (partition by convention, cell_id, k)
),
swings as (
    select convention, d, width, seed, coalesce(max(so_far - r) filter (where later > so_far), 0) as swing
    from heights
    group by all
)
