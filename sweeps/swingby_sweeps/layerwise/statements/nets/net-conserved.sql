-- always: The flow conserves W_1^T W_1 - W_2 W_2^T [3.3, (A.29)]
-- asks: Of every seed of the flow: does the difference of the layers stay where it was, to a millionth of the weights'
--     squares? Gradient descent moves it with the length of its steps; that is not asked.
-- sweeps: claim-layerwise-rank
-- setting: p = {width}
-- measured: it moves by {max(largest):.1g} of |W_1|^2 + |W_2|^2 at most; by descent in steps of 0.05 by
--     {any_value(by_descent):.2g}
select
    runs.*, list_max(drift) as largest, list_max(drift) < 1e-6 as holds, descent.by_descent
from runs, (select max(list_max(drift)) as by_descent from runs where drive = 'gd') descent
where drive = 'flow'
