-- asks: In what share of the runs is what is fitted by then that of the two predicted times: in 95 % at least of those
--     that are stopped a factor of two away from both? And is the signal learned in 1 % at most of the runs with a tail
--     of n/5 and more, while with one of n/20 and less the times tell?
--
-- slug two-times: diagram-linear-time
-- fresh fresh-linear-time: Whether two times tell what is fitted by when
-- found: Two times tell what is fitted: ln 10/rho for the signal and n ln 2/T for the noise give the phase of
--     {avg(agrees::integer):.1%} of {count(*)} runs, and of {avg(agrees::integer) filter (where far):.1%} of those that
--     are stopped at no more than half, or at least twice, either time.
-- not found: Two times alone, ln 10/rho for the signal and n ln 2/T for the noise, do not tell what is fitted: they
--     give the phase of {avg(agrees::integer) filter (where far):.1%} of the runs that are stopped at no more than
--     half, or at least twice, either time, and of {avg(agrees::integer):.1%} of all {count(*)}.
-- cannot be told: No run is stopped so far from both times.
-- holds: avg(agrees::integer) filter (where far) >= 0.95
--
-- slug signal-is-never-learned: diagram-linear-time
-- fresh fresh-linear-time: With a tail beyond n/9 the signal is never learned to nine tenths, and below it two times
--     tell what is fitted
-- found: With a tail of n/5 or more the signal comes to nine tenths in {avg(learned::integer) filter (where tail >= n /
--     5):.1%} of {count(*) filter (where tail >= n / 5)} runs, whatever the time: its learnability is below that from T
--     = n/9 on. With a tail of n/20 or less the two times give the phase of {avg(agrees::integer) filter (where far and
--     tail <= n / 20):.1%} of the runs that are stopped at no more than half, or at least twice, either time.
-- not found: With a tail of n/5 or more the signal comes to nine tenths in {avg(learned::integer) filter (where tail >=
--     n / 5):.1%} of the runs; with a tail of n/20 or less the two times give the phase of {avg(agrees::integer) filter
--     (where far and tail <= n / 20):.1%} of those that are stopped at no more than half, or at least twice, either
--     time.
-- cannot be told: No run has such a tail.
-- holds: avg(learned::integer) filter (where tail >= n / 5) <= 0.01 and avg(agrees::integer) filter (where far and tail
--     <= n / 20) >= 0.95
-- after: Added when the map had been seen, to say why the two times alone do not tell. Of the runs on fresh seeds only
--     the share in which the times tell had been looked at by then.
select
    *, phase = predicted_phase as agrees, phase in ('signal', 'both') as learned,
    not (end_time / predicted_signal_time between 0.5 and 2 or end_time / predicted_noise_time between 0.5 and 2) as far
from runs
where predicted_phase is not null
