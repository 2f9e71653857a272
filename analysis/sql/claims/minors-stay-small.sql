-- Of every seed: does every minor entry stay in the initial phase, |w_ij| <= P beta omega (Assertion D.1, Lemma D.8),
-- at every recorded step, beta omega being the largest |w_ij(0)|? Rows by the constants, and by whether all of App. D's
-- assumptions are met under them (judged here, from W(0), a_p and the step).
with chosen as (
    select distinct preset as convention, cell_id from members join conventions using (sweep_id, point)
    where list_contains($1, sweep_id)
),
runs as (
    select chosen.convention, sim.*, told.* exclude (cell_id, of_shard)
    from chosen
    join sim using (cell_id)
    left join outcomes_descents told on told.cell_id = sim.cell_id and told.of_shard = sim.shard
    where sim.status in ('ok', 'diverged')
),
constants as (  -- of App. D.1: the most lenient ones, and some under which all of its assumptions can hold at once
    select * from (values (20::double, 10::double, ln(2), 2::double), (20, 1.5, 219, 1.11)) given(K, C, log_P, kappa)
),
starts as (
    select
        convention, seed, cell_id, model, drive, s, a, list_sort(a) as up, jacobian[1] as w0,
        list_min(list_transform(jacobian[1], lambda w: abs(w))) as omega,
        list_max(list_transform(jacobian[1], lambda w: abs(w))) as largest,
        case when drive = 'flow' then 0 else 2 * time_per_step end as eta
    from runs
    where model in ('symmetric', 'w_recurrence') and d = s and status = 'ok' and jacobian is not null
),
every as (  -- D.1 to D.5, the a_p ascending (the only order in which D.5 can hold); neighbours are the worst pairs
    select
        *,
        omega > 0
        and K >= 20 and eta * 9 * K * up[s] <= 1
        and log_P + ln(largest) <= ln(0.4)
        and ln(omega) <= ln(
            least(kappa - 1, 1 - 1 / sqrt(kappa)) / (K * (up[s] / up[1]) * s)
        ) - log_P - 2 * ln(largest / omega)
        and omega <= 1 / sqrt(2 * largest / omega) and kappa > 1.1 and kappa <= 1 + 0.5 * K / C and log_P >= ln(2)
        and 10 * kappa ** 2 * (-log_P - ln(largest)) + log_P + ln(largest / omega) > 0
        and list_max(list_transform(range(1, s), lambda i: (up[i + 1] + up[i]) / (2 * up[i + 1])))
            <= log_P / (10 * kappa ** 2 * (-log_P - ln(largest)) + log_P + ln(largest / omega))
        and C > 1 and list_min(list_transform(range(1, s), lambda i: up[i + 1] - 3 * up[i])) >= up[1] / C as met
    from starts, constants
),
judged as (  -- runs that meet them stand under `theory`; the others under their own convention, by the lenient constants
    select * replace (case when met then 'theory' else convention end as convention) from every where met or kappa = 2.0
),
records as (
    select
        cell_id, unnest(step) * 2 * time_per_step as t, unnest(jacobian) as w  -- eta t of App. D is the time of eq 4.3
    from (select distinct on (cell_id) cell_id, step, time_per_step, jacobian from runs)
),
placed as (
    select judged.* exclude (omega), t, i, j, w[s * (i - 1) + j] as now, w0[s * (i - 1) + j] as start
    from judged join records using (cell_id), range(1, s + 1) rows(i), range(1, s + 1) columns(j)
),
told as (
    select *, ln(greatest(abs(now), 1e-300)) - log_P - ln(largest) as above from placed where i <> j
),
by_seed as (
    select
        convention, model, drive, s, K, C, log_P, kappa, met, seed, bool_and(coalesce(above <= 0, false)) as holds,
        max(above) as worst
    from told
    group by all
)
select
    convention, format(
        '{}, {}, s = {}; K = {:g}, C = {:g}, log P = {:.3g}, kappa = {:g}: assumptions {}',
        model, drive, s, K, C, log_P, kappa, case when met then 'met' else 'not met' end
    ) as setting,
    count(*) as n,
    count(*) filter (where holds) as k,
    format(
        'log of the largest minor entry over P beta omega: {:.3g} (median seed), {:.3g} (worst)', median(worst),
        max(worst)
    ) as measured
from by_seed
group by convention, model, drive, s, K, C, log_P, kappa, met
order by convention, drive, log_P, met desc
