-- Of every seed at a contrast: do the judge that measures the images and the trained classifier agree on which concept
-- of the held-out class is learned first? Runs in which either says neither, or calls it a tie, tell nothing. Rows by
-- contrast.
-- Repaired after results were seen: a run without circles at its end was judged by the last evaluation that has them.
with
-- include: claims/shared/diffusion-finished,
judged as (
    select
        *,
        learning_order in ('color first', 'size first')
        and learning_order_by_trained in ('color first', 'size first') as tells,
        format('{} x {} pixels, {:,} steps', pixels, pixels, training_steps) as model
    from finished
)
select
    convention, format('contrast {:g}; {}', contrast, model) as setting,
    count(*) filter (where tells) as n,
    count(*) filter (where tells and learning_order = learning_order_by_trained) as k,
    format(
        'color / size first in {} / {} seeds by measurement, in {} / {} by the classifier',
        count(*) filter (where learning_order = 'color first'), count(*) filter (where learning_order = 'size first'),
        count(*) filter (where learning_order_by_trained = 'color first'),
        count(*) filter (where learning_order_by_trained = 'size first')
    ) as measured
from judged
group by convention, model, contrast
order by convention, model, contrast
