-- exists: Some narrow net learns a rarer skill at the cost of a more frequent one [Table 5.1]
-- asks: Of every seed with ten units and five skills: is a rarer skill ahead of a more frequent one by more than .3?
-- sweeps: table-5-1
-- setting: width {width}
-- measured: in {count(*) filter (where holds)} of {count(*)} seeds
select preset, seed, width, order_violated as holds
from runs
where outcome <> 'diverged'
