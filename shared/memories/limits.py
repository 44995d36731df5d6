"""What one request may send, and what one answer may weigh. Rules of single fields are theirs."""

MAX_BODY = 1024 * 1024
"""The largest body of a request that is read, in bytes."""

MAX_ANSWER = 5_000_000
"""The most bytes that the records of one answer take, as a function hands it over.

Lambda takes 6,291,556 bytes, all told: the rest is for what is around the records.
"""

MAX_PARAMETERS = 32
"""The most parameters of a query: more than any operation has."""

TIME_LIMIT = 6.0
"""The seconds after which no call to the store is begun for a request.

The last one may take twelve more, with its retries: together less than a function has.
"""
