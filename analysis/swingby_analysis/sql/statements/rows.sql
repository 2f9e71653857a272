-- Every row that the page shows, claim by claim.
select
    claim, place, text, source, verdict, why, convention, setting, unit, n, k, share, low, high, row_verdict, measured,
    coalesce(kind, '') as kind, effect, effect_low, effect_high, example, coalesce(strength, '') as strength,
    sweeps, coalesce(lacking, []) as lacking, coalesce(recorded, []) as recorded,
    coalesce(claims_queries.query, '') as query
from claims
left join claims_queries using (claim)
order by rank, place
