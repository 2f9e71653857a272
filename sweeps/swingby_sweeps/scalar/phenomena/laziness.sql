-- title: Laziness: the kernel hardly moves
-- experiment: wide_scalar
-- means: The kernel at the end is that of the start to within a factor of 1.1 (regime is lazy; null where it is
--     unresolved or diverged).
case when regime not in ('unresolved', 'diverged') then regime = 'lazy' end
