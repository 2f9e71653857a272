-- sweeps: diagram-skills-alpha
-- asks: Where the last skill has lost 2 % to 90 % of its loss by the end of the window: is the exponent everywhere
--     within 3 % of the law with L_C h(u)/h(0) in place of L_C, u the last skill's own time? Points whose window begins
--     before scaling does are left out.
-- fresh fresh-skills-alpha: The law of the bias holds to the end, with the last skill's own loss
-- found: The law of eq C.2 holds to the last skill if L_C is taken to fall as this skill's own loss does, h(u)/h(0):
--     once the last skill has lost 2 % to 90 % of its loss ({count(*)} points), the exponent is off that law by at most
--     {100 * max(off):.1f} %, and off the law of a constant L_C by {100 * median(off_constant):.0f} % (median) and up
--     to {100 * max(off_constant):.0f} %.
-- not found: Once the last skill has lost 2 % to 90 % of its loss ({count(*)} points), the exponent is off the law with
--     this skill's own loss by up to {100 * max(off):.1f} % ({100 * median(off):.2f} % in the median), and off the law
--     of a constant L_C by up to {100 * max(off_constant):.0f} % ({100 * median(off_constant):.0f} %).
-- cannot be told: In no point has the last skill lost 2 % to 90 % of its loss.
-- holds: max(off) <= 0.03
select *, abs((1 + bias) / (1 + boundary_bias) - 1) as off, abs((1 + bias) / (1 + predicted_bias) - 1) as off_constant
from runs
where regime = 'exhausted' and last_gone <= 0.9 and bias is not null
