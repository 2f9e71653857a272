-- title: Catapult: the loss rises first, and then converges
-- experiment: wide_scalar
-- means: By descent the loss exceeds its start by more than 0.01 %, and the run settles all the same (descent is
--     catapult; null for other drives and where it is unresolved).
case when descent <> 'unresolved' then descent = 'catapult' end
