-- order: 3
-- rule: effect over seeds
-- found: Two lines of theory tell most fates. Left of the line of the first plateau {below:.0%} of the runs end on a
--     plateau; between the lines {between_them:.0%} get to the answer; right of the line of steepness {above:.0%}
--     diverge.
-- not found: The two lines of theory do not tell the fates: left of the line of the first plateau {below:.0%} of the
--     runs end on a plateau; between the lines {between_them:.0%} get to the answer; right of the line of steepness
--     {above:.0%} diverge.
-- cannot be told: Whether the two lines of theory tell most fates cannot be told: left of the line of the first plateau
--     {below:.0%} of the runs end on a plateau; between the lines {between_them:.0%} get to the answer; right of the
--     line of steepness {above:.0%} diverge.
--
-- slug: depth-gain-lines
-- sweeps: diagram-depth-gain
--
-- slug: width-gain-lines
-- sweeps: diagram-width-gain
--
-- Theory places two gains g for each depth L and width h. A normal start stretches by g in each layer, but by g
-- sqrt(h/d) in the first, whose fan-in is d. Below the first gain a start is too small to leave the first plateau in
-- the time T of the run: layers that grow alike, k' = a_p k^(L - 1) (Saxe et al. 2014) from k = g (h/d)^(1/2L), take 1
-- / ((L - 2) a_p k^(L - 2)). Above the second it is too steep: lr a_p g^(2 (L - 1)) (1 + (L - 1) h/d) > 2. How do the
-- runs below, between and above end?
-- Repaired after results had been seen: the first layer's fan-in had been left out of both lines.
with lines as (
    select
        *,
        case when layers > 2 then
            (1 / ((layers - 2) * list_min(a) * planned * time_per_step)) ** (1 / (layers - 2))
            / (width / d) ** (1 / (2 * layers))
        else 0 end as least,
        case when layers > 1 then
            (2 / (lr * list_max(a) * (1 + (layers - 1) * width / d))) ** (1 / (2 * (layers - 1)))
        end as most
    from (select *, epochs * ceil(s * n / batch_size) as planned from placed)
)
select
    seed,
    avg((outcome in ('plateau', 'failed'))::integer) filter (where init_gain < least) as below,
    avg(found::integer) filter (where init_gain between least and coalesce(most, 1e9)) as between_them,
    avg((outcome = 'diverged')::integer) filter (where init_gain > most) as above,
    below - 0.5 as effect, between_them - 0.5 as effect_2, above - 0.5 as effect_3
from lines
group by seed
