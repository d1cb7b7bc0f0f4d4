"""Tables: files of any size (CSV, Parquet, Arrow) and data frames, all through Arrow arrays."""
