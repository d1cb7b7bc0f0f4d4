"""The report of a protected table as one HTML page."""

from liftlock.errors import extra

with extra("report"):
    import jinja2  # noqa: F401
    import markupsafe  # noqa: F401

from liftlock.report.html.page import html_report, write_report

__all__ = ["html_report", "write_report"]
