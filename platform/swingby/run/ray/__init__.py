"""Ray Tune as an executor. Nothing outside this folder imports ray; workers import parts of it, so it names none."""
