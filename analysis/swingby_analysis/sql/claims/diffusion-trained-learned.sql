-- Of every seed at a contrast: are both concepts of the three classes trained on right to 0.9 in the last evaluation,
-- with a circle in half of the images of each or more? Rows by judge and contrast.
with
-- include: claims/shared/diffusion-finished,
-- include: claims/shared/diffusion-judges,
ends as (  -- red-big, blue-big, red-small; each concept counted from its wrong value, 0, to its right one, 1
    select
        *, found[-1] as shares,
        [
            1 - color[-1][1], 1 - size[-1][1], color[-1][2], 1 - size[-1][2], 1 - color[-1][3], size[-1][3]
        ] as rights
    from runs
),
judged as (
    select
        *, true as tells,
        case when len(list_filter(rights, lambda r: isfinite(r))) = 6 then list_min(rights) end as value,
        value >= 0.9 and list_min(shares[:3]) >= 0.5 as holds,
        'least of both concepts and three classes, of 1' as what
    from ends
)
-- include: claims/shared/diffusion-rows
