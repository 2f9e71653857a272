-- Of every seed: is the minor entry of W(0) smaller in size than a tenth of the major one, |w_12(0)| < 0.1 w_11(0)? E.1
-- says that they part as d' grows. Rows by d'.
with
-- include: claims/shared/runs,
-- include: claims/shared/e-1-starts
select
    convention, format('U normal, d'' = {}, tau = {:.3g}', width, tau) as setting,
    count(*) as n,
    count(*) filter (where abs(w_12) < 0.1 * w_11) as k,
    format('|w_12| / w_11 = {:.3f} (median seed)', median(abs(w_12) / w_11)) as measured
from starts
group by convention, width, tau
order by convention, width
