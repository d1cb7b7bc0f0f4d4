"""The true optimum: decompose the prior into extreme posteriors at the least mean cost."""
