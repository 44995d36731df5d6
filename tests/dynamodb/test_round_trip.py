"""What leaves one store by an export is in the other after an import, all of it and the same."""

from collections.abc import Callable
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mypy_boto3_dynamodb import DynamoDBClient

from clock import Clock
from dynamodb.test_same_answers import AGENTS, drafts, patches
from memories.errors import DomainError
from memories.models import MemoryDraft
from memories.principal import SCOPES, Principal
from memories.relation_models import RelationDraft
from memories.service import MemoryService
from memories.stores.dynamodb import DynamoDBStore
from memories.stores.sqlite import SqliteStore
from memories.transfer_models import ExportQuery

Step = Callable[[MemoryService, Principal], object]

_users = count()

ids = st.integers(1, 6)
types = st.sampled_from(["follows", "supersedes"])
strengths = st.sampled_from([0.0, 0.25, 0.3333, 1.0])


def relate(from_id: int, relation_type: str, to_id: int, strength: float) -> Step:
    draft = RelationDraft(strength=strength, invalidate=False)
    return lambda service, who: service.relations.relate(who, from_id, relation_type, to_id, draft)


STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(lambda each: lambda service, who: service.record(who, each), drafts),
    st.builds(lambda id_, each: lambda service, who: service.revise(who, id_, each), ids, patches),
    st.builds(lambda id_: lambda service, who: service.inspect(who, id_), ids),
    st.builds(lambda id_: lambda service, who: service.retire(who, id_), ids),
    st.builds(relate, ids, types, ids, strengths),
)


def exported(service: MemoryService, principal: Principal, limit: int) -> list[str]:
    lines: list[str] = []
    after: int | None = 0
    while after is not None:
        page = service.transfer.export(principal, ExportQuery(after=after, limit=limit))
        lines += page.lines
        after = page.next
    return lines


def imported(service: MemoryService, principal: Principal, lines: list[str]) -> dict[str, int]:
    report = service.transfer.take_in(principal, "\n".join(lines).encode())
    assert not [line.problems for line in report.lines if line.problems]
    return report.model_dump(include={"recorded", "kept", "refused"})


def erase(service: MemoryService, principal: Principal) -> None:
    while not service.erasure.erase_user(principal).complete:
        pass


def test_a_collection_is_the_same_in_the_other_store_and_back(
    client: DynamoDBClient, table: str
) -> None:
    @settings(
        max_examples=15,
        deadline=None,
        phases=[Phase.reuse, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        first=st.lists(drafts, min_size=1, max_size=4),
        steps=st.lists(st.tuples(STEPS, st.sampled_from(AGENTS)), max_size=15),
        limit=st.sampled_from([1, 3, 1_000]),
    )
    def round_trip(first: list[MemoryDraft], steps: list[tuple[Step, str]], limit: int) -> None:
        clock = Clock()
        user = f"user {next(_users)}"
        with (
            TemporaryDirectory() as folder,
            closing(SqliteStore(Path(folder) / "memories.db")) as store,
        ):
            # Not closed: that would close the client.
            table_store = DynamoDBStore(client, table)
            file, other = (MemoryService(each, clock) for each in (store, table_store))
            who = {agent: Principal(user, agent, frozenset(SCOPES)) for agent in AGENTS}
            file.record_batch(who[AGENTS[0]], first)
            for step, agent in steps:
                clock.advance(0.5)
                with suppress(DomainError):
                    step(file, who[agent])
            left = {agent: exported(file, who[agent], limit) for agent in AGENTS}
            for agent, lines in left.items():
                new = imported(other, who[agent], lines)
                assert new["recorded"] + new["kept"] == len(lines)
                assert exported(other, who[agent], limit) == lines
                assert imported(other, who[agent], lines)["kept"] == len(lines)
            erase(file, who[AGENTS[0]])
            assert exported(file, who[AGENTS[0]], limit) == []
            for agent, lines in left.items():
                imported(file, who[agent], exported(other, who[agent], limit))
                assert exported(file, who[agent], limit) == lines
            erase(other, who[AGENTS[0]])

    round_trip()
