-- slug features-decay-keeps: diagram-features-leaving
-- asks: Of every seed, over separations from 1.5 to 3.5: which share of the runs that enter the minimum feature regime
--     leave it again (`leaves`) under weight decay up to 1e-4, and from 3e-3 on?
-- fresh fresh-features-leaving: Weight decay keeps features minimal that would leave
-- found: Weight decay keeps features of overlapping classes minimal: of the runs that enter the minimum feature regime,
--     {weak:.2f} leave it again under weight decay up to 1e-4, {strong:.2f} from 3e-3 on (shares).
-- contrary: Weight decay drives features of overlapping classes away from the minimum: of the runs that enter the
--     regime, {weak:.2f} leave it again under weight decay up to 1e-4, {strong:.2f} from 3e-3 on (shares).
-- cannot be told: Whether weight decay keeps features of overlapping classes minimal cannot be told: of the runs that
--     enter the regime {weak:.2f} leave it again under weight decay up to 1e-4, {strong:.2f} from 3e-3 on (shares).
-- after: Asked of 20 fresh seeds in place of 6, of which the interval was too wide to tell; they are others than those.
select
    seed, avg(leaves::int) filter (where weight_decay < 1.1e-4) as weak,
    avg(leaves::int) filter (where weight_decay > 2.9e-3) as strong, weak - strong as effect
from runs
where separation between 1.5 and 3.5
group by seed
