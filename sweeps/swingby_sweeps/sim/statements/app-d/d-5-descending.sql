-- in most seeds: The signals are as distinct as the proofs ask, with a_p in the order of the main text [D.1, Assumption
--     D.5]
-- asks: Of every seed: does the second part of Assumption D.5, a_i - 3 a_j >= alpha/C for i > j, hold with the a_p in
--     descending order, as the main text has them? With C of the detector `theory`.
-- sweeps: claim-bounds, figure-5
-- after: Reworded: it said that they can be, and the paper says that its assumptions commonly hold in the practice. The
--     predicate is the same.
-- why: As printed the inequality can only hold with the a_p in ascending order; the main text has them descending.
-- setting: s = {s}, mu = {mu}
-- measured: ascending it holds in {count(distinct seed) filter (where d_5_gap_ascending)} seeds; all of App. D's
--     assumptions in {count(distinct seed) filter (where all_assumptions)}
select *, d_5_gap_descending as holds
from runs
where model = 'symmetric' and d = s and d_5_gap_descending is not null
