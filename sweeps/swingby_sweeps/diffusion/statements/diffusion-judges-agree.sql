-- in most seeds: Diffusion: the measured and the trained judge see the same concept of the held-out class learned first
--     [G.3, assumed]
-- asks: Of every seed at a contrast: do the judge that measures the images and the trained classifier agree on which
--     concept of the held-out class is learned first? Runs in which either says neither, or calls it a tie, tell
--     nothing. Rows by contrast. Repaired after results were seen: a run without circles at its end was judged by the
--     last evaluation that has them.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- after: The query was repaired, in what it takes from the detector: where no circle is found in half of the images at
--     the end, the last evaluation that has them was taken for the end of the run; now no concept is right there. Later
--     its kind was named when results had been seen: it says what such runs do; the seeds were too few to tell that of
--     most.
-- setting: contrast {contrast:g}; {model}
-- measured: color / size first in {count(*) filter (where learning_order = 'color first')} / {count(*) filter (where
--     learning_order = 'size first')} seeds by measurement, in {count(*) filter (where learning_order_by_trained =
--     'color first')} / {count(*) filter (where learning_order_by_trained = 'size first')} by the classifier
select
    *,
    case when learning_order in ('color first', 'size first')
        and learning_order_by_trained in ('color first', 'size first')
        then learning_order = learning_order_by_trained end as holds
from recipes
