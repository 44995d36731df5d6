"""The function: changes of the table in, entries of the access log out.

A record that fails is reported by itself, and the others of its batch are done. What is logged
here never holds content, nor whose it is.
"""

import os
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from aws_lambda_powertools import Logger
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord

from memories.bootstrap import build_log_writer
from memories.config import Settings
from memories.stores.dynamodb.changes import accesses_in
from memories.stores.dynamodb.log import LogWriter

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]

_NAMESPACE = "memories"


def build_handler(writer: LogWriter, settings: Settings, function_name: str) -> Handler:
    """Return the Lambda handler that has ``writer`` write the log."""
    logger = Logger(service="stream", level=settings.log_level, use_rfc3339=True, utc=True)
    metrics = EphemeralMetrics(namespace=_NAMESPACE, service=function_name)
    # Where all records of a batch fail, they are reported one by one too.
    processor = BatchProcessor(EventType.DynamoDBStreams, raise_on_entire_batch_failure=False)

    def write(record: DynamoDBRecord) -> None:
        change = record.raw_event
        try:
            for logged in accesses_in(change["dynamodb"]):
                writer.write(logged, change["eventID"])
                metrics.add_metric("LoggedAccesses", MetricUnit.Count, 1)
        except Exception as error:
            metrics.add_metric("LogFailures", MetricUnit.Count, 1)
            # Not the error's text, which may hold what a person stored.
            kind = type(error).__name__
            logger.error("record failed", event_id=change["eventID"], error=kind)  # noqa: TRY400
            raise

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        try:
            answer = process_partial_response(event, write, processor, context)
        finally:
            if metrics.metric_set:
                metrics.flush_metrics()
        return cast("dict[str, Any]", answer)

    return handler


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Log the accesses in one batch of changes, by the settings in the environment."""
    return deployed()(event, context)


@cache
def deployed() -> Handler:
    """Return the handler that the settings in the environment ask for, made once."""
    settings = Settings.from_environment(os.environ)
    name = os.environ.get("AWS_LAMBDA_FUNCTION_NAME", "stream")
    return build_handler(build_log_writer(settings), settings, name)
