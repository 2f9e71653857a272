-- in most seeds: A loss that is recorded once an epoch still shows the rise [code behind the figures]
-- asks: Of every seed whose OOD loss rises between two descents: is at least half of that rise still there if the loss
--     is recorded once an epoch, at its start? The record nearest to each epoch's start stands for it; the rise is the
--     largest one above the least loss so far that is followed by a loss below that. Seeds without a rise tell nothing.
-- sweeps: claim-recording
-- after: Its kind was named when results had been seen: it says what such a record shows of a run that rises, and a few
--     runs in which it does would not do.
-- why: The rise mostly lasts less than an epoch, and the record comes only at the start of each.
-- setting: L = {layers}, d = {d}, width {width}, lr {lr}, mu = {mu}
-- measured: rise {median(whole):.3f} L_ref in all records, {median(seen):.3f} once an epoch; it lasts
--     {median(lasts):.2f} epochs (medians)
with records as (
    select
        preset, cell_id, seed, layers, d, width, lr, mu, bump_height, l_ref,
        steps_per_epoch as an_epoch, epochs, (bump_peak - bump_start) / an_epoch as lasts,
        unnest(step) as placed, unnest(ood_loss) as loss
    from runs
    where drive = 'sgd' and non_monotone
),
kept as (
    select
        preset, cell_id, seed, layers, d, width, lr, mu, bump_height, l_ref, epoch, lasts,
        arg_min(loss, (abs(placed - epoch * an_epoch), placed)) as loss
    from records, range(0, 1001) e(epoch)
    where epoch <= epochs and abs(placed - epoch * an_epoch) <= an_epoch / 2
    group by all
),
so_far as (
    select
        *, min(loss) over (run order by epoch) as least,
        min(loss) over (run order by epoch rows between current row and unbounded following) as later
    from kept
    window run as (partition by preset, cell_id)
)
select
    preset, layers, d, width, lr, mu, seed, any_value(bump_height) as whole, any_value(lasts) as lasts,
    coalesce(max(loss - least) filter (where later < least), 0) / any_value(l_ref) as seen,
    seen >= whole / 2 as holds
from so_far
group by preset, layers, d, width, lr, mu, seed
