-- always: Of ten sines on four points, falling intensities express the points by low frequencies, rising ones by high
--     [Fig 1.2]
-- asks: Of every seed, fifty sets of four points: do the five modes of larger intensity (the first five for rho = k^-8,
--     the last five for k^8) have more than nine tenths of the four learned modes?
-- sweeps: figure-1-2
-- setting: alpha = {alpha:g}
-- measured: learnability of the five stronger modes {min(strong):.3f} to {max(strong):.3f} of 4, {avg(strong):.3f} in
--     the mean; theory says {any_value(theory):.3f}
-- why: They have nine tenths of it in the mean; the means over fifty sets of four points scatter about that.
select
    preset, seed, alpha, sum(measured) filter (where (k <= 5) = (alpha > 0)) as strong,
    sum(predicted) filter (where (k <= 5) = (alpha > 0)) as theory, strong > 3.6 as holds
from listed
group by all
