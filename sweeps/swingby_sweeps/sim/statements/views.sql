-- preset paper:   the paper's conventions
-- preset authors: the authors' conventions
-- preset theory:  the assumptions of the theory
-- title of claims: What the swing-by paper claims, and what the seeds say of it
-- lead of claims:  Each claim is asked in SQL of every seed, under the conventions of the paper's text and of the code
--                  behind its figures; its kind says what has to be true of the seeds.
-- title of figures: The figures of the swing-by paper on the identity-mapping task
-- lead of figures: Each redrawn from its own sweep, over many seeds, under the conventions of the paper's text and under
--                  those of the code behind its figures.
-- title of findings: What we found: phase diagrams of transient memorization
-- lead of findings:  Where does the output at an unseen combination of concepts turn back on its way, in which nets,
--                    from which starts?
-- note on findings: The wordings and predicates were written while the grids were chosen, on other seeds (from 1000
--                   on) and coarse grids; the seeds shown here had not been looked at. Three things were repaired
--                   afterwards, as comments in their queries say too. Whether transient memorization is the rule
--                   anywhere was decided by a single point, and of many points some lie above one half by chance: now
--                   more than one in forty have to. The two lines over the gain had left out that the fan-in of the
--                   first layer is the dimension, not the width. And the rise that eq 4.3 predicts had been read at the
--                   peak of the minor entry, not at the trough of the loss.
-- note on findings: A stable run is one that does not diverge and whose learning rate is below 2 / (L a_max), where a
--                   solution is flat enough for steps of that length. What rises at larger rates is not called
--                   transient memorization.
-- note on findings: Added afterwards: that the spread counts for ReLU nets and not the distance, the line that would
--                   explain it, and the sweep over the time of the run that puts this line to the test; one in six of
--                   its runs are those seen before, of the diagram that suggested it.
-- order:
--     fig-2a-order, fig-2a-reversal, fig-2b-order, fig-2b-reversal, fig-11-order, fig-12-order, slow-down,
--     slow-down-two-layers, slow-down-symmetric, terminal-rate-one-layer, terminal-rate-one-layer-law,
--     near-tie-reversal,
--     theorem-4-1, theorem-4-1-noise, theorem-4-1-growth, closed-form-against-sgd, closed-form-against-descent,
--     one-layer-monotone,
--     fig-2c-low, fig-2c-direction, fig-2c-return, fig-3-low, fig-3-high, low-dimension-swings-more,
--     narrow-width-swings-more, fig-13, fig-14, fig-15, fig-16, truncation-where-it-cuts,
--     low-dimension-swings-more-fresh,
--     fig-5-descents, fig-5-descents-fine, fig-5-stages, fig-5-sign, fig-5-sign-suffices, fig-5-even-signs,
--     majors-in-order, minor-suppressed-first, minor-peaks-first, fig-8-descents, fig-8-descents-fine, fig-9-descents,
--     fig-9-descents-fine, fig-17, fig-18, terminal-rate-symmetric, terminal-rate-small-start, omega-exponent,
--     swing-by-vanishes, terminal-rate-earlier,
--     predicted-order, predicted-times, predicted-order-one-layer, predicted-times-one-layer,
--     predicted-times-one-layer-law,
--     d-11-upper-growth, d-23-lower-growth, d-36-later-growth, diagonal-bounded, minors-stay-small, d-5-descending,
--     e-1-major, e-1-minor, e-1-spread, e-1-relative-spread, e-1-minor-beside-major, fig-10-trapped, fig-10-unfinished,
--     recurrence-leaves-the-cone, full-rank-is-never-trapped, bottleneck-is-structural,
--     fig-7-linear, fig-7-throughout, fig-7-relu, epoch-recording, mean-is-a-shorter-step, convention-reduction,
--     convention-bias, convention-zero-cluster, convention-sigma, convention-shuffle, conventions-together,
--     concepts-start-most, concepts-start-all, concepts-start-number, concepts-start-scale,
--     depth-gain-common, depth-gain-fate, depth-gain-lines, depth-gain-along-y, depth-gain-along-x,
--     depth-gain-common-relu, depth-gain-fate-relu, depth-gain-along-y-relu, depth-gain-along-x-relu,
--     dimension-width-common, dimension-width-fate, dimension-width-along-x, dimension-width-along-y,
--     dimension-width-which, dimension-reversal,
--     dimension-width-common-relu, dimension-width-fate-relu, dimension-width-along-x-relu,
--     dimension-width-along-y-relu,
--     distance-common, distance-fate, distance-along-x, distance-scale, distance-found,
--     distance-common-relu, distance-fate-relu, distance-along-x-relu, distance-scale-relu, distance-found-relu,
--     distance-spread-relu,
--     distance-truncated, distance-truncated-found, distance-along-x-truncated,
--     distance-truncated-relu, distance-truncated-found-relu, distance-along-x-truncated-relu,
--     latent-concepts-below, latent-concepts-above, latent-concepts-relu,
--     rate-depth-common, rate-depth-fate, rate-depth-line, rate-depth-along-x, rate-depth-along-y,
--     rate-depth-common-relu, rate-depth-fate-relu, rate-depth-line-relu, rate-depth-along-x-relu,
--     rate-depth-along-y-relu,
--     ratio-gain-common, ratio-gain-fate, ratio-gain-line, ratio-gain-assumed, ratio-gain-along-x, ratio-gain-along-y,
--     ratio-spread-common, ratio-spread-fate, ratio-spread-along-x, ratio-spread-along-y,
--     ratio-spread-common-relu, ratio-spread-fate-relu, ratio-spread-along-x-relu, ratio-spread-along-y-relu,
--     ratio-start-common, ratio-start-fate, ratio-start-line, ratio-start-assumed, ratio-start-along-x,
--     ratio-start-along-y,
--     spread-time-common-relu, spread-time-fate-relu, spread-time-line,
--     width-gain-common, width-gain-fate, width-gain-lines, width-gain-along-y, width-gain-along-x,
--     width-gain-common-relu, width-gain-fate-relu, width-gain-along-y-relu, width-gain-along-x-relu

-- Runs of one layer without bias beside the closed form from the same weights: their largest distance over ||x^||; and,
-- by SGD, that from the theorem as printed, on the moments of the population.
create view beside_closed_form as
select
    descent.preset, descent.seed, descent.mu, descent.time_per_step, descent.a, descent.drive, theory.moments,
    descent.theorem_4_1_off as printed,
    list_max(list_transform(
        list_zip(descent.output, theory.output),
        lambda pair: sqrt((pair[1][1] - pair[2][1]) ** 2 + (pair[1][2] - pair[2][2]) ** 2)
    )) / sqrt(2 * descent.l_ref) as off
from runs descent join runs theory using (preset, seed, mu, sigma, zero_cluster, reduction, lr)
where not descent.bias and descent.drive <> 'closed_form' and theory.drive = 'closed_form'
    and descent.step = theory.step;

-- Of every run the largest retreat of an output before it reaches a new height, and whether the detector finds one.
create view swings as
with entries as (
    select
        preset, cell_id, seed, drive, d, width, retreat, k,
        unnest(list_transform(output, lambda f: f[k] / mu[k])) as r,
        unnest(step) as at_step
    from runs, (values (1), (2)) c(k)
),
heights as (
    select
        *, max(r) over (run order by at_step) as so_far,
        max(r) over (run order by at_step rows between current row and unbounded following) as later
    from entries
    window run as (partition by preset, cell_id, k)
)
select preset, drive, d, width, seed, retreat, coalesce(max(so_far - r) filter (where later > so_far), 0) as swing
from heights
group by all;

-- Every fitted terminal rate of the symmetric flow beside the theory's, in the time of eq 4.3: 2 a_k of log(|1 - w_kk|
-- / w_kk), a_i + a_j of log |w_ij|. Of which entry: the major one of the least a_p, which arrives last; an earlier one;
-- or a minor one. `scale` is that of U at the start: largest value of a uniform one, gain of a normal one.
-- Repaired after results were seen: a run may have no rate of a minor entry, and its NULL took the whole list along.
create view symmetric_rates as
with rates as (
    select
        preset, seed, s, d, init, case when init = 'uniform' then init_high else init_gain end as scale,
        unnest(terminal_rate || coalesce(minor_rate, [])) as rate,
        unnest(terminal_predicted || coalesce(minor_predicted, [])) as predicted,
        unnest(
            list_transform(a, lambda signal: case when signal = list_min(a) then 'last' else 'earlier' end)
            || list_transform(coalesce(minor_rate, []), lambda rate: 'minor')
        ) as kind
    from runs
    where model = 'symmetric' and drive = 'flow' and terminal_rate is not null
)
select * from rates where rate is not null and predicted is not null;

-- Of every seed of the symmetric model each major entry w_jj, from the second in falling a_p on, with the minor entry
-- w_ij that joins it to the one before: the first records at which w_jj is 0.1 and 0.5 (null: never), and |w_ij| there.
create view minor_beside_major as
with ranked as (
    select
        *,
        list_transform(list_sort(list_zip(a, range(1, s + 1)), 'desc'), lambda pair: pair[2]) as places
    from runs
    where model = 'symmetric' and s >= 2 and jacobian is not null
),
pairs as (
    select
        preset, seed, drive, s, d, mu, sigma, step,
        list_transform(jacobian, lambda w: abs(w[s * (places[rank] - 1) + places[rank + 1]])) as minor,
        list_transform(jacobian, lambda w: w[s * (places[rank + 1] - 1) + places[rank + 1]]) as major
    from ranked, range(1, s) r(rank)
)
select
    *, list_position(minor, list_max(minor)) as peak,
    list_position(list_transform(major, lambda w: w >= 0.1), true) as grows,
    list_position(list_transform(major, lambda w: w >= 0.5), true) as half
from pairs;

-- Every seed of which App. D speaks beside its bounds, under two sets of the constants of App. D.1: the most lenient
-- ones, and some under which all of its assumptions can hold at once. Runs that meet all of them stand under `theory`,
-- the others under their own preset, by the lenient constants. A seed with several runs has one row: the worst of them.
-- Repaired after results were seen: runs were told apart by sweep point and seed, and points of two sweeps can have the
-- same number; now by cell.
create view under_constants as
with each as (
    select
        preset, seed, model, drive, s, major_least, major_most,
        unnest(app_d_K) as K, unnest(app_d_C) as C, unnest(app_d_log_P) as log_P, unnest(app_d_kappa) as kappa,
        unnest(app_d_met) as met,
        unnest(d_11_beyond) as d_11_beyond, unnest(d_11_kept) as d_11_kept,
        unnest(d_23_beyond) as d_23_beyond, unnest(d_23_kept) as d_23_kept,
        unnest(d_36_beyond) as d_36_beyond, unnest(d_36_kept) as d_36_kept,
        unnest(major_bound) as major_bound, unnest(minor_beyond) as minor_beyond
    from runs
    where app_d_met is not null
)
select
    if(met, 'theory', preset) as preset, model, drive, s, K, C, log_P, kappa, if(met, 'met', 'not met') as assumed,
    seed,
    max(d_11_beyond) as d_11_beyond, bool_and(d_11_kept) as d_11_kept,
    max(d_23_beyond) as d_23_beyond, bool_and(d_23_kept) as d_23_kept,
    max(d_36_beyond) as d_36_beyond, bool_and(d_36_kept) as d_36_kept,
    min(major_least) as major_least, max(major_most) as major_most, any_value(major_bound) as major_bound,
    max(minor_beyond) as minor_beyond
from each
where met or kappa = 2
group by all;

-- The entries of W at the start, where U is normal, beside what E.1 says of them.
create view normal_starts as
select
    preset, seed, init, width, start_sd as tau, e_1_major, e_1_minor_spread,
    jacobian[1][1] as w_11, jacobian[1][2] as w_12
from runs
where model = 'symmetric' and s = 2 and init = 'normal';

-- How the standard deviation of w_12(0) over seeds, and its ratio to the mean of w_11(0), go with the width d': the
-- slope of its log against log d', with its standard error, beside the slope that E.1 says.
create view spreads_by_width as
with widths as (
    select
        preset, width, count(*) as n, stddev_samp(w_12) as sd, avg(w_11) as mean,
        any_value(e_1_minor_spread) as stated_sd, any_value(e_1_major) as stated_mean
    from normal_starts
    group by preset, width
),
spreads as (
    select preset, width, n, 'itself' as measure, sd as spread, stated_sd as stated from widths
    union all
    select preset, width, n, 'beside the major entry', sd / mean, stated_sd / stated_mean from widths
)
select
    preset, measure, count(*) as grid, min(width) as least, max(width) as most, min(n) as seeds,
    regr_slope(ln(stated), ln(width)) as expected, regr_slope(ln(spread), ln(width)) as slope,
    sqrt(greatest(1 - regr_r2(ln(spread), ln(width)), 0) / (count(*) - 2)
        * regr_syy(ln(spread), ln(width)) / regr_sxx(ln(spread), ln(width))) as se
from spreads
where spread > 0
group by preset, measure;

-- Of each seed how |w_12(0)|, by itself and beside the stated mean of w_11(0), goes with the width d': the slope of its
-- log against log d', with its sign turned, beside that of the spread over seeds.
create view slopes_by_seed as
with sizes as (
    select preset, seed, width, unnest(['itself', 'beside the major entry']) as measure,
        ln(unnest([abs(w_12), abs(w_12) / e_1_major])) as size
    from normal_starts
    where w_12 <> 0
)
select
    preset, seed, measure, -regr_slope(size, ln(width)) as effect, any_value(grid) as grid,
    any_value(least) as least_width, any_value(most) as most_width, any_value(seeds) as seeds,
    any_value(slope) as slope, any_value(se) as se, any_value(expected) as expected
from sizes join spreads_by_width using (preset, measure)
group by preset, seed, measure;

-- Pairs of runs of one seed that differ in a single convention, and whether the two show the same: the OOD loss
-- non-monotone or not, the outcome, and the largest rise of the OOD loss within 5 % of L_ref.
create view one_convention_apart as
select
    one.preset, one.layers, one.d, one.width, one.seed, convention, first, second,
    one.non_monotone as one_rises, two.non_monotone as two_rises,
    one.final_ood_loss / one.l_ref as one_final, two.final_ood_loss / two.l_ref as two_final,
    coalesce(
        one_rises = two_rises and one.outcome = two.outcome and abs(one.bump_height - two.bump_height) <= 0.05, false
    ) as alike
from runs one join runs two using (preset, seed, layers, d, width, lr, mu), lateral (values
    ('reduction', one.reduction, two.reduction), ('bias', one.bias::varchar, two.bias::varchar),
    ('zero_cluster', one.zero_cluster::varchar, two.zero_cluster::varchar),
    ('sigma_is', one.sigma_is, two.sigma_is), ('shuffle', one.shuffle, two.shuffle)
) sides(convention, first, second)
where first > second  -- each pair once
    and (one.reduction <> two.reduction)::integer + (one.bias <> two.bias)::integer
        + (one.zero_cluster <> two.zero_cluster)::integer + (one.sigma_is <> two.sigma_is)::integer
        + (one.shuffle <> two.shuffle)::integer = 1;

-- Of every pair of test points, u below v, in a seed, after epochs 1, 3 and 5: is its order wrong? Pairs of which both
-- losses are within the tolerance are learned, and tell no order. Rows with and without the node v = 0.
-- Repaired after results were seen: pairs that were learned counted as in order, so that a net that had learned all by
-- the end of epoch 1 passed without a pair that could be wrong.
create view order_of_test_points as
with epochs as (
    select
        preset, seed, model, layers, s, d, epoch,
        arg_min(losses, (abs(placed - epoch * steps_per_epoch), placed)) as losses
    from (
        select *, unnest(step) as placed, unnest(hierarchy_loss) as losses
        from runs where hierarchy_loss is not null and drive = 'sgd'
    ), (values (1), (3), (5)) e(epoch)
    group by all
),
pairs as (
    select
        preset, seed, model, layers, s, d, epoch, u > 0 as inner_pair,
        greatest(losses[u + 1], losses[v + 1]) > 0.001 as tells,
        losses[u + 1] > 1.02 * losses[v + 1] + 0.001 as wrong, greatest(losses[u + 1], losses[v + 1]) as larger
    from epochs, range(0, (1 << s)::bigint) below(u), range(0, (1 << s)::bigint) above(v)
    where u <> v and u & v = u
),
parts as (
    select *, 'all pairs' as which from pairs
    union all
    select *, 'without the node 0' from pairs where inner_pair
)
select
    preset, seed, model, layers, s, d, which,
    avg(wrong::integer) filter (where tells) as share,
    avg(wrong::integer) filter (where tells and epoch = 1) as first,
    avg(wrong::integer) filter (where tells and epoch = 5) as fifth, max(larger) filter (where epoch = 1) as largest
from parts
group by all;

-- Of every run whether its full-batch twin (same data, same start, same step, no sampling noise) swings by, and whether
-- its output retreats: null where no twin was recorded, and where the results are older than the column.
create view with_twins as
select own.*
from (select null::boolean as twin_gd_transient_memorization, null::boolean as twin_gd_retreat) absent,
    lateral (
        select runs.cell_id, twin_gd_transient_memorization as twin_swings, twin_gd_retreat as twin_retreats from runs
    ) own;

-- Every run at its place in the diagram: whether it swings by, whether its full-batch twin does, whether it gets to the
-- answer, and how far the first cluster is from the origin in units of its spread.
create view placed as
select
    *, coalesce(transient_memorization, false) as swings, outcome = 'generalized' as found,
    final_ood_loss / l_ref as final_loss, sigma[1] as spread, mu[1] / sigma[1] as distance
from runs join grid using (cell_id) left join with_twins using (cell_id);

-- Of the values in a diagram along x, along y, of the distance and of the spread: where the lowest third of them ends,
-- and where the highest third begins.
create view thirds as
with along as (
    select
        list_sort(list(distinct x)) as xs, list_sort(list(distinct y)) as ys,
        list_sort(list(distinct distance)) as distances, list_sort(list(distinct spread)) as spreads
    from placed
)
select
    xs[ceil(len(xs) / 3)::integer] as low_x, xs[-ceil(len(xs) / 3)::integer] as high_x,
    ys[ceil(len(ys) / 3)::integer] as low_y, ys[-ceil(len(ys) / 3)::integer] as high_y,
    distances[ceil(len(distances) / 3)::integer] as low_distance,
    distances[-ceil(len(distances) / 3)::integer] as high_distance,
    spreads[ceil(len(spreads) / 3)::integer] as low_spread, spreads[-ceil(len(spreads) / 3)::integer] as high_spread
from along;

-- Of every seed the shares of the runs that swing by, and of the full-batch twins that do, in the lowest, the middle
-- and the highest third of the values along x, along y and of the distance. Left out, with their twins, are runs that
-- diverged, since a run that does not last is not one without transient memorization; and runs whose rate is beyond 2 /
-- (L a_max), since what rises there is not called transient memorization. Repaired after results had been seen: these
-- runs counted as runs that do not swing by.
create view sides as
select
    axis, seed,
    avg(swings::integer) filter (where place <= lower_end) as low,
    avg(swings::integer) filter (where place > lower_end and place < upper_end) as middle,
    avg(swings::integer) filter (where place >= upper_end) as high,
    avg(twin_swings::integer) filter (where place <= lower_end) as twin_low,
    avg(twin_swings::integer) filter (where place > lower_end and place < upper_end) as twin_middle,
    avg(twin_swings::integer) filter (where place >= upper_end) as twin_high
from (
    select *, 'x' as axis, x as place, low_x as lower_end, high_x as upper_end from placed cross join thirds
    union all
    select *, 'y' as axis, y as place, low_y as lower_end, high_y as upper_end from placed cross join thirds
    union all
    select *, 'distance' as axis, distance as place, low_distance as lower_end, high_distance as upper_end
    from placed cross join thirds
)
where outcome is distinct from 'diverged' and not coalesce(lr > steepest_rate, false)
group by axis, seed;

-- What the full-batch twins show in these thirds, in words: the mean over seeds with its 95 % t-interval. Empty where
-- no twins were recorded.
create view twins_along as
with shares as (
    select
        axis, unnest(['low', 'middle', 'high']) as side, unnest([twin_low, twin_middle, twin_high]) as share
    from sides
),
means as (
    select axis, side, count(share) as n, avg(share) as mean, stddev_samp(share) / sqrt(count(share)) as error
    from shares
    group by axis, side
),
texts as (
    select
        axis, side,
        format(
            '{:.0f} % ({:.0f} to {:.0f} %)', 100 * mean, 100 * greatest(mean - student * error, 0),
            100 * least(mean + student * error, 1)
        ) as words
    from means join intervals using (n)
    where n > 1
)
select
    axis, any_value(words) filter (where side = 'low') as low,
    any_value(words) filter (where side = 'middle') as middle,
    any_value(words) filter (where side = 'high') as high
from texts
group by axis;

-- What has to be said where no twins were recorded, in words: of SGD, whose noise can hide bumps.
create view twins_lacking as
select
    if(
        bool_or(drive = 'sgd'),
        ' No full-batch twins were recorded, so what the noise of SGD hides is not known.', ''
    ) as words
from placed;

-- What the full-batch twins of all runs show, in words, and how many of their bumps the runs themselves show. Empty
-- where no twins were recorded.
create view twins_overall as
with by_seed as (
    select
        seed, avg(twin_swings::integer) as share, avg(swings::integer) filter (where twin_swings) as seen
    from placed
    where twin_swings is not null
    group by seed
),
means as (
    select
        count(*) as n, avg(share) as share, stddev_samp(share) / sqrt(count(*)) as error, avg(seen) as seen,
        stddev_samp(seen) / sqrt(count(seen)) as seen_error
    from by_seed
)
select format(
    ' Of their full-batch twins, which have no sampling noise, {:.0f} % ({:.0f} to {:.0f} %) show it; the runs show '
    '{:.0f} % ({:.0f} to {:.0f} %) of the bumps of their twins.',
    100 * share, 100 * greatest(share - student * error, 0), 100 * least(share + student * error, 1),
    100 * seen, 100 * greatest(seen - student * seen_error, 0), 100 * least(seen + student * seen_error, 1)
) as words
from means join intervals using (n)
where n > 1;

-- Of every seed the shares of the stable runs that swing by, of their full-batch twins that do, and of all runs that
-- get to the answer, with and without the training points near the test point, over the points of the grid that there
-- are with both. Repaired after results had been seen: runs that are not stable counted as runs that do not swing by.
create view with_points_near as
with rounded as (select * replace (round(spread, 5) as spread), round(mu[1], 5) as centre from placed),
shared as (
    select *, outcome is distinct from 'diverged' and not coalesce(lr > steepest_rate, false) as stable
    from rounded
    where (centre, spread) in (select (centre, spread) from rounded where truncate)
)
select
    seed, avg(swings::integer) filter (where stable and truncate) as without_them,
    avg(swings::integer) filter (where stable and not truncate) as with_them,
    avg(twin_swings::integer) filter (where stable and truncate) as twins_without,
    avg(twin_swings::integer) filter (where stable and not truncate) as twins_with,
    avg(found::integer) filter (where truncate) as found_without,
    avg(found::integer) filter (where not truncate) as found_with
from shared
group by seed;
