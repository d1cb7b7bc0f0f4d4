"""The report of a protected table as one HTML page."""

from liftlock.report.html.page import html_report, write_report

__all__ = ["html_report", "write_report"]
