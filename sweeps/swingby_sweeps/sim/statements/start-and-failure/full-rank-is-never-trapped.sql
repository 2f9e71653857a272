-- always: Training U with as many columns as concepts, no run is trapped for good [said beside E.3]
-- asks: Of every seed with as many columns in U as concepts (rank(U_0) = s): does the run not end in a certified
--     failure (outcome failed: no gradient and no growing direction)? A plateau is still moving.
-- sweeps: figure-10, claim-rank
-- setting: symmetric, {drive}, s = {s}, mu = {mu}
-- measured: generalized {count(*) filter (where outcome = 'generalized')}, plateau {count(*) filter (where outcome =
--     'plateau')}, failed {count(*) filter (where outcome = 'failed')}, diverged {count(*) filter (where outcome =
--     'diverged')}
select *, coalesce(outcome <> 'failed', false) as holds from runs where model = 'symmetric' and rank0 = s
