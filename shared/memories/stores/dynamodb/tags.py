"""Tags in the DynamoDB store, counted by a walk of an index: it holds them, and the grants.

The index follows the table: for a moment, what was just recorded or changed may not be counted.
"""

from collections import Counter

from memories.principal import Principal
from memories.stores.dynamodb.expressions import (
    NOT_DELETED,
    all_of,
    indexed_of,
    listed,
    readable_by,
)
from memories.stores.dynamodb.queries import Queries
from memories.stores.port_tags import TagUse

# No change of a memory moves it there: so none is met twice, and none is missed.
_INDEX = "by_created_at"


class DynamoDBTags:
    """Tags of one table."""

    def __init__(self, queries: Queries) -> None:
        self._queries = queries

    def in_use(self, principal: Principal, limit: int, offset: int) -> tuple[list[TagUse], int]:
        answers = self._queries.answers(
            indexed_of(principal.user_id),
            listed(["tags"]),
            all_of(NOT_DELETED, readable_by(principal.agent_id)),
            IndexName=_INDEX,
        )
        items = (item for answer in answers for item in answer["Items"])
        counts = Counter(tag["S"] for item in items for tag in item["tags"]["L"])
        ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        return [TagUse(*each) for each in ordered[offset:][:limit]], len(ordered)
