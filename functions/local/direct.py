"""The client that has the store at hand: the service, without a server."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from local.client import Exported, Fields, Unavailable, told_of
from local.told import CannotDo, WronglyCalled
from memories.errors import DomainError, InvalidInput, InvalidRelation, StoreUnavailable
from memories.models import MemoryDraft, MemoryPatch, MemoryQuery
from memories.principal import Principal
from memories.relation_models import RelationDraft, RelationQuery
from memories.service import MemoryService
from memories.tag_models import TagQuery
from memories.transfer_models import ExportQuery
from memories.validation import invalid_input

Model = TypeVar("Model", bound=BaseModel)


class DirectClient:
    """Client of a service, on behalf of a principal."""

    def __init__(self, service: MemoryService, principal: Principal) -> None:
        """Register the agent, as every door does."""
        self._service = service
        self._principal = principal
        with _told():
            service.accounts.seen(principal)

    def record(self, draft: Mapping[str, Any]) -> Fields:
        return self._one(lambda: self._service.record(self._principal, _read(MemoryDraft, draft)))

    def search(self, query: Mapping[str, Any], full: bool) -> Fields:
        return self._one(
            lambda: self._service.search(self._principal, _read(MemoryQuery, query), full)
        )

    def inspect(self, memory_id: int, full: bool) -> Fields:
        return self._one(lambda: self._service.inspect(self._principal, memory_id, full))

    def revise(
        self, memory_id: int, patch: Mapping[str, Any], expected_version: int | None
    ) -> Fields:
        return self._one(
            lambda: self._service.revise(
                self._principal, memory_id, _read(MemoryPatch, patch), expected_version
            )
        )

    def retire(self, memory_id: int, expected_version: int | None) -> Fields:
        return self._one(lambda: self._service.retire(self._principal, memory_id, expected_version))

    def tags(self, query: Mapping[str, Any]) -> Fields:
        return self._one(lambda: self._service.tags.listed(self._principal, _read(TagQuery, query)))

    def relations(self, memory_id: int, query: Mapping[str, Any]) -> Fields:
        return self._one(
            lambda: self._service.relations.listed(
                self._principal, memory_id, _read(RelationQuery, query)
            )
        )

    def relate(self, from_id: int, relation_type: str, to_id: int, strength: float) -> Fields:
        draft = {"strength": strength}
        return self._one(
            lambda: self._service.relations.relate(
                self._principal, from_id, relation_type, to_id, _read(RelationDraft, draft)
            )[0]
        )

    def unrelate(self, from_id: int, relation_type: str, to_id: int) -> Fields:
        return self._one(
            lambda: self._service.relations.unrelate(self._principal, from_id, relation_type, to_id)
        )

    def export(self, after: int) -> Exported:
        with _told():
            page = self._service.transfer.export(self._principal, ExportQuery(after=after))
        return Exported(page.lines, page.next)

    def take_in(self, lines: bytes) -> Fields:
        return self._one(lambda: self._service.transfer.take_in(self._principal, lines))

    def _one(self, call: Callable[[], BaseModel]) -> Fields:
        with _told():
            return call().model_dump(mode="json")


def _read(model: type[Model], fields: Mapping[str, Any]) -> Model:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise invalid_input(error) from None


@contextmanager
def _told() -> Iterator[None]:
    """Raise what a client raises for the errors of the service."""
    try:
        yield
    except InvalidInput as error:
        raise WronglyCalled(told_of(error.problems)) from error
    except InvalidRelation as error:
        raise WronglyCalled(f"{error.field}: {error}") from error
    except StoreUnavailable as error:
        raise Unavailable(str(error), error.retry_after) from error
    except DomainError as error:
        raise CannotDo(str(error)) from error
