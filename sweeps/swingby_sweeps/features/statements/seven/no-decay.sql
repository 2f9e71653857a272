-- slug minimal-without-decay: figure-7-2b
-- in most seeds: Features are minimal without weight decay, too [7.3]
-- asks: Of every seed: is kappa of the test sample below 0.1 at the end?
-- setting: no weight decay
-- measured: kappa {median(final_kappa_cka):.3f} (median)
-- after: Asked of 16 seeds in place of 6, of which the interval was too wide to tell. The predicate is as it was.
select *, minimum_features as holds from runs where weight_decay = 0
