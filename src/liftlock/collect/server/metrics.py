"""What an operator watches, for Prometheus: counts of requests and reports, nobody's."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_EDGES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)


class Metrics(Collector):
    """Plain numbers that a request adds to; they become metrics when somebody asks.

    The labels are the endpoint, the status and the collection: nothing of who asked.
    """

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.stored: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self._seconds = [0] * (len(_EDGES) + 1)
        self._total = 0.0
        self.ended = 0
        """Connections that took too long."""
        self.gauges: Callable[[], Mapping[str, Any]] = dict
        """What the store and the server say of themselves at the moment."""
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def answered(self, seconds: float) -> None:
        """Note how long a report had to wait for the disk."""
        self._seconds[bisect_left(_EDGES, seconds)] += 1
        self._total += seconds

    def collect(self) -> Iterable[Metric]:
        """Yield the metrics."""
        requests = CounterMetricFamily(
            "liftlock_requests", "Requests that were answered", labels=["endpoint", "status"]
        )
        for (endpoint, status), number in sorted(self.requests.items()):
            requests.add_metric([endpoint, str(status)], number)
        yield requests
        for name, says, numbers in (
            ("stored", "Reports that were answered 200, repeated ones too", self.stored),
            ("rejected", "Reports that were refused in a request answered 200", self.rejected),
        ):
            family = CounterMetricFamily(f"liftlock_reports_{name}", says, labels=["collection"])
            for collection, number in sorted(numbers.items()):
                family.add_metric([collection], number)
            yield family
        sums = list(accumulate(self._seconds))
        edges = [*map(str, _EDGES), "+Inf"]
        yield HistogramMetricFamily(
            "liftlock_report_seconds",
            "From a whole request with reports to its answer",
            buckets=list(zip(edges, sums, strict=True)),
            sum_value=self._total,
        )
        yield CounterMetricFamily(
            "liftlock_connections_ended", "Connections that took too long", value=self.ended
        )
        for name, value in self.gauges().items():
            if isinstance(value, int | float):
                words = name.replace("_", " ")
                yield GaugeMetricFamily(f"liftlock_{name}", words, value=float(value))

    def text(self) -> bytes:
        """Return them as Prometheus reads them."""
        return generate_latest(self._registry)
