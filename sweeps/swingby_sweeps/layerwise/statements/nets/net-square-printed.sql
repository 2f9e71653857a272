-- always: (3.15) as printed, alpha_i^2 the square of u_i^T W_1 W_2 v_i, gives the growth of a mode [(3.15), A.2.3]
-- asks: Of every seed: does ln(q / (1 - q)) grow as 2 rho_1 t, within a tenth, while the strength r of the first mode
--     rises from 5 % to 50 %, where q is the square of r? As (3.15) says, a sigmoid in 2 rho_i t has this growth.
-- sweeps: claim-layerwise-times
-- setting: p = {width}, sigma = {sigma}
-- measured: growth over 2 rho_1: {median(of_square):.2f} by the square, {median(of_strength):.2f} by u_1^T W_1 W_2 v_1
--     itself (medians)
-- why: alpha_i^2 is u_i^T W_1 W_2 v_i; its square is not.
-- after: Asked when the source's error was known, to show it; its place in time is that of the law with Gram-Schmidt.
with rises as (
    select
        preset, width, sigma, seed, lr, rho[1] as first,
        list_filter(
            list_zip(step, list_transform(strength, lambda modes: modes[1])), lambda record: record[2] between 0.05 and 0.5
        ) as part
    from runs
),
ends as (
    select
        preset, width, sigma, seed, part[1][2] as low, part[-1][2] as high,
        2 * first * lr * (part[-1][1] - part[1][1]) as due
    from rises
    where len(part) > 1
)
select
    *, (ln(high / (1 - high)) - ln(low / (1 - low))) / due as of_strength,
    (ln(high ** 2 / (1 - high ** 2)) - ln(low ** 2 / (1 - low ** 2))) / due as of_square,
    abs(of_square - 1) < 0.1 as holds
from ends
