-- In how many seeds it holds, of those that tell, by judge and contrast, over which values, and at which thresholds.
select
    convention, format('{} judge, contrast {:g}; {}', judge, contrast, model) as setting,
    count(*) filter (where tells) as n,
    count(*) filter (where tells and coalesce(holds, false)) as k,
    coalesce(
        format('{}: {:.3g} (median), {:.3g} to {:.3g}', any_value(what), median(value), min(value), max(value)),
        'nothing is told of any run'
    ) || coalesce(
        format('; threshold: {:.3g} (median), {:.3g} to {:.3g}', median(threshold), min(threshold), max(threshold)), ''
    ) as measured
from judged
group by convention, model, judge, contrast
order by convention, model, judge, contrast
