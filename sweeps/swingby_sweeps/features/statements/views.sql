-- preset digits:  1,000 digits, 4 layers, width 64
-- preset cheap:   digits, 3 layers, width 32
-- preset mixture: four Gaussian classes, 3 layers, width 32
-- preset toy:     a step function, 4 layers, width 200 or less
-- title of claims: What the thesis claims of last-layer features, and what small nets say of it
-- lead of claims:  The thesis trains ResNet18, VGG16 and MLPs on MNIST, CIFAR10 and CIFAR100. Here MLPs learn
--                  scikit-learn's digits or Gaussian classes, so a claim that fails here is shown not to hold in
--                  general, and may hold where it was made. Features are in the minimum feature regime where kappa of
--                  the test sample is below 0.1.
-- title of findings: What we found: which nets keep the fewest features
-- lead of findings:  Which starts, targets, learning rates, weight decays, losses and depths lead into the minimum feature
--                    regime, and which lead out of it?
-- note on findings: The wordings and predicates were written before the diagrams were trained. The grids have ten points a
--                   side or so, with five to ten seeds a point.
-- order:
--     toy-fewer-features, toy-single-feature, toy-twenty-features,
--     two-ways-of-training,
--     minimal-for-every-number-of-classes, dimensions-are-classes, first-features-suffice,
--     first-feature-is-constant, trained-on-they-collapse, minimal-is-stricter-than-collapse,
--     points-lead-to-minimum, curve-breaks-at-the-minimum, points-concentrate,
--     small-rate-is-extended, best-rate-is-tightest, rate-tightens-at-equal-time, rate-improves-at-equal-time,
--     decay-tightens, decay-improves, minimal-without-decay,
--     norm-tightens, norm-improves, norm-evens, norm-leads-to-minimum,
--     hard-data-leave, simple-data-stay, simple-images-stay, more-features-late,
--     intensity-goes-with-quality,
--     tighter-is-better, random-labels-minimal, linear-nets-tighter, linear-nets-worse,
--     collapse, printed-nc3, minimum, small-start, minimum-features, stricter, implies, balance,
--     features-decay-keeps,
--     features-rate-at-equal-time,
--     features-noise-leads-out, features-noise-of-a-tenth,
--     features-norm-by-loss,
--     features-depth-tightens, features-depth-loosens,
--     features-width-and-target,
--     boundary,
--     waits-for-decay, fastest-start

-- Entry k of the last recorded spectra of every run, up to twice the number of classes, with the ranks of each;
-- equal numbers share the mean of their ranks.
create view spectra as
select
    *, rank() over (partition by cell_id order by intensity)
    + (count(*) over (partition by cell_id, intensity) - 1) / 2 as intensity_rank,
    rank() over (partition by cell_id order by quality)
    + (count(*) over (partition by cell_id, quality) - 1) / 2 as quality_rank,
    rank() over (partition by cell_id order by utilization)
    + (count(*) over (partition by cell_id, utilization) - 1) / 2 as utilization_rank
from (
    select
        cell_id, preset, seed, data, separation, weight_decay, unnest(intensities[-1][1:2 * output_count]) as intensity,
        unnest(qualities[-1][1:2 * output_count]) as quality, unnest(utilizations[-1][1:2 * output_count]) as utilization
    from runs
);

-- Runs of a learning curve with the number of points from which on every run of the seed has a kappa below 0.1; null where
-- not even the largest has.
create view beside_crossing as
with crossings as (
    select preset, seed, coalesce(max(n) filter (where final_kappa_cka >= 0.1), 0) as last_above
    from runs
    group by preset, seed
)
select
    preset, seed, n, final_kappa_cka, 1 - final_test_accuracy as error, final_test_loss as loss,
    min(if(n > last_above, n, null)) over (partition by preset, seed) as minimal_from
from runs join crossings using (preset, seed);

-- Runs beside the one of their seed that a setting is compared with: the learning rate of 0.01, no weight decay, or no batch
-- norm.
create view beside_slow as
select
    one.preset, one.seed, one.lr, one.final_kappa_cka as kappa, other.final_kappa_cka as other_kappa,
    1 - one.final_test_accuracy as error, 1 - other.final_test_accuracy as other_error,
    one.final_train_loss as train, other.final_train_loss as other_train
from runs one join runs other using (preset, seed)
where one.lr > 0.011 and other.lr between 0.009 and 0.011;

create view beside_free as
select
    one.preset, one.seed, one.weight_decay, one.final_kappa_cka as kappa, other.final_kappa_cka as other_kappa,
    1 - one.final_test_accuracy as error, 1 - other.final_test_accuracy as other_error
from runs one join runs other using (preset, seed)
where one.weight_decay > 0 and other.weight_decay = 0;

create view beside_plain as
select
    one.preset, one.seed, one.loss, one.final_kappa_cka as kappa, other.final_kappa_cka as other_kappa,
    1 - one.final_test_accuracy as error, 1 - other.final_test_accuracy as other_error,
    one.final_evenness as evenness, other.final_evenness as other_evenness
from runs one join runs other using (preset, seed, loss)
where one.batch_norm and not other.batch_norm;

-- A relu and a linear net of each seed, without batch norm.
create view linear_beside_relu as
select
    one.preset, one.seed, one.final_kappa_cka as kappa, other.final_kappa_cka as other_kappa,
    1 - one.final_test_accuracy as error, 1 - other.final_test_accuracy as other_error
from runs one join runs other using (preset, seed)
where one.activation = 'linear' and other.activation = 'relu' and not one.batch_norm and not other.batch_norm;
