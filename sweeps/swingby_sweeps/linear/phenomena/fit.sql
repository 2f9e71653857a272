-- title: What fitting noisy points does to the function
-- experiment: linear
-- regimes: benign, tempered, catastrophic, partial, malignant
-- means: The points are fitted: the target is found and the noise does little harm, bounded harm or more; or the target
--     is lost in part or wholly (fit; null where the points are not fitted, the run is unresolved or diverged).
case when fit in ('benign', 'tempered', 'catastrophic', 'partial', 'malignant') then fit end
