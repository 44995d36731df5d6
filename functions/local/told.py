"""The errors of the command line that a person can put right."""


class CannotDo(Exception):
    """What was asked cannot be done; the text says why and what to do."""


class WronglyCalled(Exception):
    """What was asked is against a rule; the text says where and what to do."""
