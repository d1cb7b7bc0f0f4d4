"""Make people.csv, the table in the documentation: ``python docs/examples/people.py``.

Nobody of them exists. `liftlock demo` makes the same table.
"""

from pathlib import Path

from liftlock.tables.example import people_csv

if __name__ == "__main__":
    Path(__file__).with_name("people.csv").write_text(people_csv(), encoding="utf-8")
