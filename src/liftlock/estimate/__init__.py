"""From private reports to answers: estimates of counts, sums and histograms, with intervals."""
