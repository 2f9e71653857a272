"""The wide scalar net of [T] 6.2 and 6.3, f = (x/Z) sum_j a_j b_j, and Theorem 1."""
