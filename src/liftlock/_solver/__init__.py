"""The solver: a private room that turns a problem into the best mechanism, with a proof."""
