-- in most seeds: Diffusion: both concepts of every class trained on are learned [5, assumed]
-- asks: Of every seed at a contrast: are both concepts of the three classes trained on right to 0.9 in the last
--     evaluation, with a circle in half of the images of each or more? Rows by judge and contrast.
-- sweeps: figure-6-small, figure-6-learned, figure-6
-- after: Its kind was named when results had been seen: it says what such runs do; the seeds were too few to tell that
--     of most.
-- setting: {judge} judge, contrast {contrast:g}; {model}
-- measured: {coalesce(format('least of both concepts and three classes, of 1: {:.3g} (median), {:.3g} to {:.3g}',
--     median(value), min(value), max(value)), 'nothing is told of any run')}
with ends as (  -- red-big, blue-big, red-small; each concept counted from its wrong value, 0, to its right one, 1
    select
        *, found[-1] as shares,
        [
            1 - color[-1][1], 1 - size[-1][1], color[-1][2], 1 - size[-1][2], 1 - color[-1][3], size[-1][3]
        ] as rights
    from by_judge
)
select
    *, case when len(list_filter(rights, lambda r: isfinite(r))) = 6 then list_min(rights) end as value,
    coalesce(value >= 0.9 and list_min(shares[:3]) >= 0.5, false) as holds
from ends
