-- Of every run beyond and before the learning rate 2 / (L a_p), a_p the largest: does it get to the answer (in at most a
-- tenth of the runs beyond), does it diverge? No solution of a linear net of L layers has a largest curvature below L a_p. And from which rate on do most
-- seeds diverge, in units of that line, by depth?
with
-- include: findings/shared/runs,
placed as (select *, lr * layers * list_max(a) / 2 as beyond from runs),
rates as (select layers, lr, any_value(beyond) as beyond, avg((outcome = 'diverged')::integer) as share
    from placed group by layers, lr),
first as (select layers, min(beyond) filter (where share >= 0.5) as beyond from rates group by layers)
select
    case when count(*) filter (where beyond > 1) > 0 then
        count(*) filter (where beyond > 1 and outcome = 'generalized') <= 0.1 * count(*) filter (where beyond > 1)
    end as holds,
    count(*) filter (where beyond > 1) as above,
    count(*) filter (where beyond > 1 and outcome = 'generalized') as found_above,
    max(beyond) filter (where outcome = 'generalized') as farthest,
    count(*) filter (where beyond > 1 and outcome = 'diverged') as diverged_above,
    count(*) filter (where beyond <= 1) as below,
    count(*) filter (where beyond <= 1 and outcome = 'generalized') as found_below,
    count(*) filter (where beyond <= 1 and outcome = 'diverged') as diverged_below,
    (select median(beyond) from first) as typical, (select count(beyond) from first) as depths, (select min(beyond) from first) as least,
    (select max(beyond) from first) as largest
from placed
