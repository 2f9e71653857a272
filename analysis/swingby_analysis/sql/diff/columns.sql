-- What each column of an experiment is: a parameter, a scalar, or a curve; and whether that curve is no list over the steps.
-- $1 is the experiment.
select name, role, ragged
from ix.columns
where experiment = $1
order by name
