-- title: Swing-by: the output nears a training point and leaves it again
-- experiment: sim
-- means: The OOD loss falls, rises and falls again, and over the rise the output nears the centre of a training cluster
--     (transient_memorization; too large a step does not count).
transient_memorization
