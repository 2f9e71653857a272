-- in most seeds: A major entry starts to grow only after the minor entry beside it has been suppressed [E.1]
-- asks: Of every seed: when a major entry of the symmetric model, from the second in falling a_p on, starts to grow
--     (w_jj reaches 0.1), is the minor entry that joins it to the one before past its peak in size and down to half of
--     it or less (E.1: it starts to grow only after the corresponding minor entry is suppressed)? A pair whose major
--     entry never gets there does not count, and a seed without any other counts against. Repaired after results were
--     seen: it was judged at w_jj = 0.5, and by whether the peak was past, which is less than suppressed; that is a
--     claim of its own now.
-- sweeps: figure-5, figure-8, figure-9
-- why: Suppression and growth overlap: under the text's conventions more than half of the minor entry is left when the
--     growth starts. With more concepts there are more pairs, of which each has to be apart.
-- after: The query was repaired: it asked whether the peak of the minor entry was past when the major one was half
--     grown, which is less than the words say. That stays as the next claim. Later its kind was named when results had
--     been seen: the paper notes it of its figures, as the course that the theory describes.
-- setting: {drive}, s = {s}, d = {d}, mu = {mu}, sigma = {sigma}
-- measured: the minor is at {median(left_over):.2f} of its peak when the major is at 0.1 (median pair); at half or less
--     by the time the major is at 0.5 in {count(*) filter (where later and halves > 0)} seeds
select
    preset, seed, drive, s, d, mu, sigma,
    bool_and(coalesce(peak <= grows and minor[grows] <= minor[peak] / 2, true)) and count(grows) > 0 as holds,
    bool_and(coalesce(peak <= half and minor[half] <= minor[peak] / 2, true)) as later,
    median(minor[grows] / minor[peak]) as left_over, count(half) as halves
from minor_beside_major
group by preset, seed, drive, s, d, mu, sigma
