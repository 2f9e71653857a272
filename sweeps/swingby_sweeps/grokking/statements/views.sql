-- preset digits:   256 digits, width 100
-- preset cheap:    128 digits, width 64
-- preset collapse: 200 digits, width 96
-- title of claims: What the thesis claims of grokking and collapse, and what small nets on digits say of it
-- lead of claims:  The thesis trains nets of width 512 on MNIST and ResNets on CIFAR10. Here nets of four tanh layers
--                  learn scikit-learn's digits, so a claim that fails here is shown not to hold in general, and may
--                  hold where it was made.
-- title of findings: What we found: when small nets on digits generalise, and which features they keep
-- lead of findings:  From which weights, targets and outputs does generalisation lag behind, what ends the lag, and when
--                    do features collapse?
-- note on findings: The wordings and predicates were written before the diagrams were trained, after single runs of
--                   seed 1000; but for the sentence on middle targets, which the diagram suggested. The grids that
--                   sentences are asked of are coarse and whole, with three seeds a point; refined ones beside them
--                   draw boundaries, and no sentence averages over those.
-- order:
--     groks, removals-remove, removals-shorten, transition-to-minimum, transition-toward-minimum, without-decay,
--     collapse-under-random-labels, performance, number-needs-two-features, either-target,
--     small-target-is-lazy, small-target-extended, last-layer,
--     random-labels-collapse, decay-collapses,
--     decay-pace,
--     output-shortens,
--     points-shorten,
--     target-shortens, target-lengthens

-- Runs of the settings of Table 6.1, with the name of the removal; `default` is the net that groks.
create view removals as
select
    *,
    case
        when weight_scale < 5 then 'smaller weights'
        when target_scale > 3 then 'a larger target'
        when input_scale < 1 then 'smaller inputs'
        when output_scale < 1 then 'smaller outputs'
        else 'default'
    end as removal
from runs;

-- Runs of all layers at a target scale below 1, each with its seed's run at target scale 1.
create view lazy_beside_rich as
select
    lazy.*, lazy.target_scale as lazy, rich.final_feature_change as change_of_rich, rich.final_kappa as kappa_of_rich
from runs rich join runs lazy using (preset, seed)
where rich.trained = 'all' and lazy.trained = 'all' and rich.target_scale = 1 and lazy.target_scale < 1;
