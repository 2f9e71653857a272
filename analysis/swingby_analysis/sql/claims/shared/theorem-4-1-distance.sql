-- Of every seed the largest length of `rest` over ||x^||.
seeds as (
    select convention, seed, d, bias, max(sqrt(rest[1] ** 2 + rest[2] ** 2) / sqrt(2 * l_ref)) as off
    from rests
    group by convention, seed, d, bias
)
