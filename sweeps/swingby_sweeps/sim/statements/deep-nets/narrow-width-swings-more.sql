-- in the mean: At one dimension and one effective learning rate, a narrower net swings by more [said beside 3.3]
-- asks: Does transient memorization grow as the hidden width falls, at one dimension and one effective learning rate?
--     Draws are independent between points, so the seeds of the narrowest net with a width of at least 4 and of the
--     widest are two independent samples of swings: of each seed the retreat max over k and t of (greatest r_k so far -
--     r_k) before r_k reaches a new height. The claim says that those of the narrowest are larger. Rows by d.
-- sweeps: claim-dimension-width
-- after: Asked of two samples, by the chance that a swing of one is larger than one of the other: it was asked for in
--     nearly all of the seeds, put in pairs at random.
-- setting: {drive}, d = {d}, width {min(width)} against {max(width)}
-- measured: swing {avg(value) filter (where side):.3f} at width {min(width)}, {avg(value) filter (where not side):.3f}
--     at width {max(width)} (means); a retreat beyond the noise in {100 * avg(retreat::integer) filter (where
--     side):.0f} % and {100 * avg(retreat::integer) filter (where not side):.0f} % of the seeds
with narrowest as (select min(width) as width from swings where width >= 4)
select preset, drive, d, width, seed, retreat, width = (select width from narrowest) as side, swing as value
from swings
where width in (select width from narrowest union all select max(width) from swings)
