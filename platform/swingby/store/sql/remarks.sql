-- What is said of results: what of their curves is thinned, left out or a gap. Texts that differ in numbers only are one.
select any_value(e.message) as message, count(*) as cells
from members m join {table} e using (cell_id)
where m.sweep_id = ? and e.status = 'ok' and e.message is not null
group by regexp_replace(e.message, '[-+]?[0-9][0-9.,eE+-]*', '#', 'g')
order by cells desc, message limit ?
