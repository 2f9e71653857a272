-- How many claims have which verdict.
select verdict, count(distinct claim) as claims
from claims
group by verdict
order by claims desc, verdict
