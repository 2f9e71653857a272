-- always: A larger target, smaller inputs, smaller weights and a larger Z each raise gamma_+ [6.3.1]
-- asks: Of every seed: is gamma_+ larger than in the lazy net (p = 100, Z = sqrt(p), S = 3) from the same draws of the
--     weights, after the target x 10, after inputs / 10 (S x 10 and E / 100), after weights / 3, and after Z x 10?
-- sweeps: claim-scalar-richer
-- setting: {way}
-- measured: gamma_+ grows by a factor of {median(gamma_end / base):.3g} (median seed); at the start it is
--     {median(base):.3g}
select *, gamma_end > base as holds
from (
    select
        *, max(gamma_end) filter (where way = 'as it was') over (partition by preset, seed) as base
    from (
        select
            *,
            case
                when second_moment < 1 then 'inputs / 10' when target > 3 then 'target x 10'
                when sd_a < 1 then 'weights / 3' when divisor > 1 then 'Z x 10' else 'as it was'
            end as way
        from runs
    )
)
where way <> 'as it was'
