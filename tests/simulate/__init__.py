"""A simulator of the record folder's protocol: the platform's own code on simulated disks, clocks and processes.

`make simulate` tells histories, each of them chosen by its number: which commands run, when one goes on instead of
another, which is killed or frozen, when power is cut and what the disk then has lost. After each history every record
that was acknowledged has to be there whole, no cell may have two results, and a store made again has to say the same.

Modules: `disk` and `storage` (what disks and object storage may do), `world` (processes, time, the seams), `codec` and
`store` (quick stand-ins for Parquet and DuckDB; every so many histories the real ones are asked), `actors` (what users
and machines do), `history` (one history and its promises), `faults` (mistakes that the histories have to find).
"""
