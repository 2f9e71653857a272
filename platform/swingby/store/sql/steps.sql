-- Lists of steps in `incoming` that the segment has not, each once, numbered on.
insert into seg.steps
select (select coalesce(max(number), 0) from seg.steps) + row_number() over (order by min(place)), step
from incoming anti join seg.steps using (step) group by step;
