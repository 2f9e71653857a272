-- order: 3
-- sweeps: diagram-latent-concepts
-- fresh: fresh-latent-concepts
-- brief: A ReLU net needs far more units than there are concepts
-- rule: effect over seeds
-- found: A ReLU net that is wide enough gets to the answer in most runs with two concepts or more: {found:.0%}; with
--     twice as many units as concepts, {found_wide:.0%}.
-- not found: For a ReLU net to be as wide as there are concepts is not enough: with two concepts or more, {found:.0%}
--     of its runs get to the answer; with twice as many units as concepts, {found_wide:.0%}.
-- cannot be told: A ReLU net that is wide enough gets to the answer in about half of its runs with two concepts or
--     more: {found:.0%}; with twice as many units as concepts, {found_wide:.0%}.
--
-- Of every seed: in what share of its runs does a ReLU net that is wide enough get to the answer, and how is that with
-- twice as many units as concepts?
select
    seed, avg(found::integer) as found, avg(found::integer) filter (where width >= 2 * s) as found_wide,
    avg(found::integer) - 0.5 as effect
from placed
where width >= s and s > 1 and model = 'relu'
group by seed
