-- slug toy-twenty-features: table-2-1
-- in most seeds: About 20 of the features at the start express the step to a mean squared error below 1e-5 [Fig 2.2
--     (a), caption; the order of the error is that of 20 sines, 1/(20 pi^2) = 0.005]
-- asks: Of every seed: what is left of the step, whose mean square is 1/2, beside the first 20 eigenfunctions of the
--     start, and is it below 1e-5?
-- setting: width {width}
-- measured: a mean squared error of {median(left_over):.2g} is left (median; at least {min(left_over):.1g})
with starts as (select *, 0.5 * (1 - list_sum(qualities[1][1:20])) as left_over from runs)
select *, left_over < 1e-5 as holds from starts
