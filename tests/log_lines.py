"""What functions write to the standard output, for tests to read."""

import logging


def forget_logger(name: str) -> None:
    """Have the logger made anew: it keeps the output that it was made for, a test has its own."""
    logger = logging.getLogger(name)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
    logger.__dict__.pop("init", None)
    logger.__dict__.pop("powertools_handler", None)
