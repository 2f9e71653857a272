"""Ray Tune as an executor. No module outside this folder imports ray; workers import parts of it, so it names none."""
