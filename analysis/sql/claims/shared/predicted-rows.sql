-- In how many seeds a prediction holds.
select
    convention, format('{}, {}, s = {}, d = {}', model, drive, s, d) as setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format('{:.0f} % of all times are within 10 % of their prediction', 100 * avg(tenth)) as measured
from seeds
group by convention, model, drive, s, d
order by convention, model, drive, s
