-- source: 6.3.1
-- sweeps: claim-scalar-richer
-- rule: always
-- setting: p = {width}, Z = sqrt(p) before the change
-- measured: gamma_+ grows by a factor of {median(gamma_end / base):.3g} (median seed); at the start it is
--     {median(base):.3g}
--
-- slug: richer-by-target
-- claim: A larger target raises gamma_+
-- order: 2.4
-- change: target = 30 and second_moment = 1
--
-- slug: richer-by-input
-- claim: Smaller input features raise gamma_+
-- order: 2.5
-- change: second_moment < 1
--
-- slug: richer-by-start
-- claim: Smaller weights at the start raise gamma_+
-- order: 2.6
-- change: sd_a < 1
--
-- slug: richer-by-output
-- claim: A smaller output, by a larger Z, raises gamma_+
-- order: 2.7
-- change: divisor = 10
--
-- Of every seed: is gamma_+ larger than without the change ([change]), from the same draws of the weights?
select *, gamma_end > base as holds
from (
    select
        *, max(gamma_end) filter (where target = 3 and sd_a = 1 and divisor = 1) over (partition by preset, seed) as base
    from runs
)
where [change]
