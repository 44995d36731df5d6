"""The steps that lead to the present schema of the SQLite store.

``PRAGMA user_version`` counts the steps a file has taken. A released step is never edited: what
comes after is a further step.
"""

from memories.stores.sqlite.schema import MEMORIES
from memories.stores.sqlite.schema_accounts import ACCOUNTS
from memories.stores.sqlite.schema_erasure import ERASURES
from memories.stores.sqlite.schema_idempotency import IDEMPOTENCY
from memories.stores.sqlite.schema_lifecycle import LIFECYCLE
from memories.stores.sqlite.schema_log import ACCESS_LOG
from memories.stores.sqlite.schema_relations import RELATIONS
from memories.stores.sqlite.schema_transfer import ORIGINS

# "memo", in the file's header: tells a data file of this product from any other SQLite file.
APPLICATION_ID = 0x6D656D6F

MIGRATIONS = (
    MEMORIES,
    ORIGINS,
    ACCOUNTS,
    RELATIONS,
    IDEMPOTENCY,
    ACCESS_LOG,
    LIFECYCLE,
    ERASURES,
)
