-- Every row that the page shows, claim by claim.
select
    claim, place, text, source, verdict, why, convention, setting, n, k, share, low, high, row_verdict, measured, sweeps, query
from claims
order by rank, place
