"""Metrics for Prometheus: requests by route, method and status, and how long they took.

Requests are counted in plain integers on the loop's thread. prometheus-client gets them when the page is read. That
costs a request a tenth of that library's locks, and its import is not part of the start.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric
    from prometheus_client.registry import Collector

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)


class _Series:
    __slots__ = ("buckets", "seconds", "sent_bytes", "statuses")

    def __init__(self) -> None:
        self.statuses: dict[int, int] = {}
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0
        self.sent_bytes = 0


class RequestMetrics:
    """Counts of requests by route template, method and status; a collector in prometheus-client's sense."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._series: dict[tuple[str, str], _Series] = {}

    def observe(self, route: str, method: str, status: int, seconds: float, sent_bytes: int) -> None:
        series = self._series.get((route, method))
        if series is None:
            series = self._series[route, method] = _Series()
        series.statuses[status] = series.statuses.get(status, 0) + 1
        series.buckets[bisect_left(BUCKETS, seconds)] += 1
        series.seconds += seconds
        series.sent_bytes += sent_bytes

    def collect(self) -> Iterator["Metric"]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        requests = CounterMetricFamily(
            "satchel_http_requests", "Requests answered.", labels=["route", "method", "status"]
        )
        sent = CounterMetricFamily("satchel_http_sent_bytes", "Bytes of bodies sent.", labels=["route", "method"])
        took = HistogramMetricFamily(
            "satchel_http_request_seconds", "From request to last byte.", labels=["route", "method"]
        )
        for (route, method), series in self._series.items():
            for status, count in series.statuses.items():
                requests.add_metric([route, method, str(status)], count)
            sent.add_metric([route, method], series.sent_bytes)
            took.add_metric([route, method], _cumulative(series.buckets), series.seconds)
        yield from (requests, sent, took)
        yield GaugeMetricFamily("satchel_http_in_flight", "Requests being answered.", value=self.in_flight)


class Metrics:
    """All metrics of this process. Slices and stores add collectors of their own."""

    def __init__(self) -> None:
        self.requests = RequestMetrics()
        self._collectors: list[Collector] = []
        self._registry: CollectorRegistry | None = None

    def add(self, collector: "Collector") -> None:
        self._collectors.append(collector)

    def page(self) -> bytes:
        from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

        if self._registry is None:
            self._registry = CollectorRegistry()
            ProcessCollector(registry=self._registry)
            for collector in (self.requests, *self._collectors):
                self._registry.register(collector)
        return generate_latest(self._registry)


def _cumulative(buckets: list[int]) -> list[tuple[str, float]]:
    total, steps = 0, list[tuple[str, float]]()
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
        total += count
        steps.append((bound, total))
    return steps
