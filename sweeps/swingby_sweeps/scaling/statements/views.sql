-- preset thesis: S = 5, R(0) = 0.01
-- title of claims: What the thesis says of scaling laws, and what the multilinear model's loss says of it
-- lead of claims:  Each claim of [T] chapter 4 and of appendices B.1, C.1 and C.2 is asked in SQL of curves of the loss
--                  in closed form. Only training sets are random: where there is none, a value of alpha stands for a
--                  seed (seed 300 is alpha = 0.3), and no interval is a matter of chance.
-- title of findings: What we found: where the exponents hold, and which resource binds
-- lead of findings:  How many skills does a power law need, what becomes of it as the last skill is learned, and which of
--                    time, data and width costs most of the loss?
-- note on findings: The wordings and predicates were written before the diagrams were computed. Where nothing is random,
--                   fresh seeds would say the same, and fresh points are asked in their place.
-- order:
--     table-4-1-time, table-4-1-width, table-data, table-4-1-compute, expected-loss, prefactors,
--     best-width, best-width-fits-most, best-width-fits-all, envelope,
--     stage-like, skill-delay, eq-4-12-printed, eq-4-13,
--     finite-skills, small-alpha,
--     eq-b-8-printed, eq-b-9,
--     skills-needed, last-skill-corrects,
--     stairs,
--     scarcest-binds, removing-one-helps-little

-- Runs of which theory knows an exponent, with 1000 alpha in place of a seed where nothing is random.
create view by_alpha as
select * replace (if(bottleneck = 'data' and drawn, seed, round(1000 * alpha)::bigint) as seed)
from runs
where theory_exponent is not null;

-- These curves of infinitely many skills, where scaling has begun.
create view endless as
select * from by_alpha where skills is null and regime = 'scaling';
