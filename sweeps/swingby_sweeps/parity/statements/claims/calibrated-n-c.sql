-- in the mean: Four units express one skill [5.2.3, Fig 5.2(c)]
-- asks: Of every seed with one skill of three bits and four units: how much less than 1 is R/S?
-- sweeps: figure-5-2c
-- within: 0.1
-- setting: width {width}
-- measured: R/S {avg(strength):.2f} (mean); above one half in {count(*) filter (where strength > 0.5)} of {count(*)}
-- why: Four units can express the parity, but from half of the starts they do not get there.
select preset, seed, width, strength, 1 - strength as effect
from by_width
where width = 4
