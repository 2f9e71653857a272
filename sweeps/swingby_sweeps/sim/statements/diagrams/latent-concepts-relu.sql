-- sweeps: diagram-latent-concepts
-- asks: Of every seed: in what share of its runs does a ReLU net that is at least as wide as the number of concepts get
--     to the answer, and how is that with twice as many units as concepts, or more? And at one number of concepts that
--     both have: what do the wider ones gain, in the mean over these numbers?
-- fresh fresh-latent-concepts: Width alone does not bring a ReLU net to the answer
-- found: A ReLU net with twice as many units as concepts, or more, gets to the answer in most runs with two concepts or
--     more: [numbers]
-- not found: Width alone does not bring a ReLU net of two layers to the answer: with two concepts or more, {found:.0%}
--     of the runs of nets at least as wide as there are concepts get there, and {found_wide:.0%} of those with twice as
--     many units as concepts or more. At one number of concepts the share changes by {gained:.0%} from nets with fewer
--     than twice as many units to the wider ones, of up to {any_value(widest):d} units.
-- cannot be told: A ReLU net with twice as many units as concepts, or more, gets to the answer in about half of its
--     runs with two concepts or more: [numbers]
-- numbers: {found_wide:.0%}; of all that are at least as wide as there are concepts, {found:.0%}. At one number of
--     concepts the share changes by {gained:.0%} from those with fewer than twice as many units to the wider ones.
-- after: It said that a ReLU net needs far more units than there are concepts, which nothing here shows: up to five
--     times as many units, the share has no trend. Now it asks that the wide nets fail mostly, and gives the trend.
with of_nets as (
    select seed, s, width, found, width >= 2 * s as wide from placed where width >= s and s > 1 and model = 'relu'
),
gains as (
    select seed, s, avg(found::integer) filter (where wide) - avg(found::integer) filter (where not wide) as gain
    from of_nets
    group by seed, s
)
select
    seed, avg(found::integer) as found, avg(found::integer) filter (where wide) as found_wide,
    (select avg(gain) from gains where gains.seed = of_nets.seed) as gained,
    (select max(width) from of_nets) as widest, found_wide - 0.5 as effect
from of_nets
group by seed
