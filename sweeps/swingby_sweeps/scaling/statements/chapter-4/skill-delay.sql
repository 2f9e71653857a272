-- always: Rarer skills grow later [Fig 4.1 (b), eq 4.11]
-- asks: Of every alpha: are the ten most frequent skills in the order of their frequency at every time?
-- sweeps: figure-4-1
-- least: 4
-- setting: R(0) = {r0}
-- measured: {sum(len(step))} points of {count(*)} curves
select * replace (round(1000 * alpha)::bigint as seed),
    len(list_filter(strength, lambda v: v <> list_reverse_sort(v))) = 0 as holds
from runs
