-- always: The best width is that of which all N skills have been fitted [Fig 4.3, caption]
-- asks: Of every alpha: is the last of the model's skills above S/2 at the best width, where there are infinitely many?
-- sweeps: table-4-1
-- setting: {model}
-- measured: the last skill is at {min(last_strength):.2f} to {max(last_strength):.2f} S
-- why: The best width leaves the last skills unlearned: to learn the last of N skills costs time for all N, and gains
--     what the rarest one is worth. The curve of a width touches the law before it has reached its plateau.
select *, last_strength >= 0.5 as holds from endless where bottleneck = 'compute'
