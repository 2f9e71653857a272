-- in most seeds: A major entry reaches one half only after the minor entry beside it has come to its peak [E.1, in a
--     weaker reading]
-- asks: Of every seed: does each major entry of the symmetric model, from the second in falling a_p on, reach one half
--     only after the minor entry that joins it to the one before has come to its peak in size? A pair whose major entry
--     never gets there does not count, and a seed without any other counts against.
-- sweeps: figure-5, figure-8, figure-9
-- after: Reworded: it said that the minor entry has been suppressed, which its predicate does not ask. The predicate is
--     the same.
-- setting: {drive}, s = {s}, d = {d}, mu = {mu}, sigma = {sigma}
-- measured: peak of the minor at {median(ratio):.2f} of the time of the major (median pair)
select
    preset, seed, drive, s, d, mu, sigma, median(step[peak] / step[half]) as ratio,
    bool_and(coalesce(peak <= half, true)) and count(half) > 0 as holds
from minor_beside_major
group by preset, seed, drive, s, d, mu, sigma
