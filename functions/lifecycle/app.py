"""The function: a schedule's event in, a report out.

Each change is a log line and a count in a metric. A line names the memory by its id and its user by
a digest of the id: whoever knows a user finds their lines, and no one reads a user out of them.
"""

import dataclasses
import os
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from memories.bootstrap import build_store
from memories.clock import Clock, utc_now
from memories.config import Settings
from memories.lifecycle import Change, Lifecycle, Policies
from memories.stores.port_maintenance import Maintenance

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

_NAMESPACE = "memories"
_METRICS = {"remove": "Removals", "retire": "Retirements", "decay": "Decays"}
# Of the digest of a user's id, in characters of 4 bits.
_DIGEST = 16


def build_handler(
    store: Maintenance, settings: Settings, function_name: str, clock: Clock = utc_now
) -> Handler:
    """Return the Lambda handler over ``store``. An event with ``"dry_run": true`` only reports."""
    logger = Logger(service="lifecycle", level=settings.log_level, use_rfc3339=True, utc=True)
    metrics = EphemeralMetrics(namespace=_NAMESPACE, service=function_name)

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        del context
        dry_run = event.get("dry_run") is True

        def tell(change: Change) -> None:
            user = sha256(change.user_id.encode()).hexdigest()[:_DIGEST]
            logger.info(change.step, memory_id=change.memory_id, user=user, dry_run=dry_run)
            if not dry_run:
                metrics.add_metric(_METRICS[change.step], MetricUnit.Count, 1)

        try:
            report = Lifecycle(store, Policies.of(settings), tell, clock).run(dry_run)
        finally:
            if metrics.metric_set:
                metrics.flush_metrics()
        told = dataclasses.asdict(report)
        logger.info("report", **told)
        return told

    return handler


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Run once, by the settings in the environment."""
    return deployed()(event, context)


@cache
def deployed() -> Handler:
    """Return the handler that the settings in the environment ask for, made once."""
    settings = Settings.from_environment(os.environ)
    name = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "lifecycle")
    return build_handler(build_store(settings).maintenance, settings, name)
