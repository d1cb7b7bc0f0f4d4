"""What long work on a machine needs: limits of time and memory, progress, files written whole."""
