"""The server: applications for people and for operators, over one service."""

from liftlock.errors import extra

with extra("collect"):
    import httptools  # noqa: F401
    import jinja2  # noqa: F401
    import markupsafe  # noqa: F401
    import msgspec  # noqa: F401
    import prometheus_client  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
