-- A mean over seeds beside what it should be, of `means`: true (k = 1) if its interval, 2.58 standard errors to either
-- side, holds that value, and false if not. Where it does, but is wider than a tenth of `scale` to either side, the
-- seeds are too few to tell (n = 0). Repaired after results were seen: it counted all seeds where the mean agreed, and
-- agreed however few the seeds were; the tenth is that of the claim about single seeds.
told as (
    select
        *, abs(mean - expected) <= coalesce(2.58 * se, 'inf'::double) as agrees,
        not agrees or coalesce(2.58 * se, 'inf'::double) <= scale / 10 as tells
    from means
)
select
    convention, setting,
    tells::integer as n,
    (tells and agrees)::integer as k,
    format(
        '{} {:.5f} +- {} (mean and standard error of {} seeds); expected {:.5f}', what, mean,
        coalesce(format('{:.5f}', se), 'unknown'), seeds, expected
    ) as measured
from told
order by convention, width
