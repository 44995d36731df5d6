"""The use case of tags: which there are, and which to take."""

from collections.abc import Sequence

from memories.principal import READ, Principal
from memories.stores.port_tags import TagStore
from memories.tag_models import TagCount, TagPage, TagQuery


class Tags:
    """Tells a principal of tags."""

    def __init__(self, store: TagStore, standard: Sequence[str]) -> None:
        """``standard`` is the vocabulary that agents are asked to keep to."""
        self._store = store
        self._standard = list(standard)

    def listed(self, principal: Principal, query: TagQuery) -> TagPage:
        """Return a part of the tags in use, most used first. No memory is marked as accessed."""
        principal.require(READ)
        found, total = self._store.in_use(principal, query.limit, query.offset)
        return TagPage(
            items=[TagCount(tag=each.tag, count=each.memories) for each in found],
            total=total,
            limit=query.limit,
            offset=query.offset,
            has_more=query.offset + len(found) < total,
            standard=self._standard,
        )
