"""The machine: limits of time and memory, progress, files written whole, registries."""
