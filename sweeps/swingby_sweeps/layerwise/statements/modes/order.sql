-- in most seeds: The modes of a diagonal net are learned in the order of their second moments [3.4.1, 3.4.2, Figs 3.3b
--     and 3.4a]
-- asks: Of every seed: do the modes reach half of their target in the order of falling E_i, from weights that differ by
--     a tenth?
-- sweeps: figure-3-3, figure-3-4
-- setting: {modes} modes, S = {target}, start = {start}, layers = {layers}
-- measured: another order in {count(*) filter (where not in_order)} of {count(in_order)} runs
select *, in_order as holds from runs where layers = 2
