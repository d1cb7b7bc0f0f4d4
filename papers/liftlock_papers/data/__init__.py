"""The real data sets that the papers use, read from the formats in which they are published."""

from liftlock_papers.data.folder import SETS, Absent, DataFolder, DataSet, open_text

__all__ = ["SETS", "Absent", "DataFolder", "DataSet", "open_text"]
