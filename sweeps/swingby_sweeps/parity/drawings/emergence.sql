-- Strength R_k/S of each skill over the scarce resource, a row a point, skill and value x (steps, training points or units): quantiles over
-- seeds and the means of what is predicted from the counts and the width. Runs that diverged are left out. $1 is the sweep's id.
with finished as (
    select members.point, parity_net.*, found.* exclude (cell_id, of_shard)
    from members
    join parity_net using (cell_id)
    join outcomes_emergence as found on found.cell_id = parity_net.cell_id and found.of_shard = parity_net.shard
    where members.sweep_id = $1 and parity_net.status = 'ok'
),
recorded as (
    select point, x, skills, strengths, null::double[] as printed, null::double[] as mean_law, null::double[] as by_width
    from (select *, unnest(step) as x, unnest(strength) as strengths from finished where bottleneck = 'time')
    union all
    select
        point, if(bottleneck = 'data', samples, width), skills, final_strength, predicted_printed, predicted_mean,
        predicted_width
    from finished where bottleneck <> 'time'
),
skill as (
    select
        point, x, unnest(range(1, skills + 1)) as skill, unnest(strengths) as strength, unnest(printed) as printed,
        unnest(mean_law) as mean_law, unnest(by_width) as by_width
    from recorded
)
select
    point, x, skill, count(*) as n, median(strength) as middle, quantile_cont(strength, 0.1) as low,
    quantile_cont(strength, 0.9) as high, avg(strength) as mean, avg(printed) as printed, avg(mean_law) as mean_law,
    avg(by_width) as by_width
from skill
group by point, x, skill
order by point, x, skill
