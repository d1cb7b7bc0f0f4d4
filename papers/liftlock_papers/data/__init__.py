"""The real data sets that the papers use, read from the formats in which they are published."""
