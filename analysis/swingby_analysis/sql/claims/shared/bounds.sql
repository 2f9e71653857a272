-- Every entry of W at every record, for each run of which App. D speaks and each set of its constants.
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
judged as (  -- runs that meet them stand under `theory`, the others under their own convention by the lenient constants
    select
        * replace (case when met then 'theory' else convention end as convention),
        format(
            '{}, {}, s = {}; K = {:g}, C = {:g}, log P = {:.3g}, kappa = {:g}: assumptions {}',
            model, drive, s, K, C, log_P, kappa, case when met then 'met' else 'not met' end
        ) as setting
    from every where met or kappa = 2.0
),
records as (
    -- Repaired after results were seen: runs were told apart by sweep point and seed, and points of two sweeps can have
    -- the same number; now by cell.
    select
        cell_id, unnest(step) * 2 * time_per_step as t, unnest(jacobian) as w  -- eta t of App. D is the time of eq 4.3
    from (select distinct on (cell_id) cell_id, step, time_per_step, jacobian from runs)
),
placed as (
    select judged.* exclude (omega), t, i, j, w[s * (i - 1) + j] as now, w0[s * (i - 1) + j] as start
    from judged join records using (cell_id), range(1, s + 1) rows(i), range(1, s + 1) columns(j)
)
