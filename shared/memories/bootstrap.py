"""The one place that wires: from settings to a service over its store."""

from memories.config import Settings
from memories.service import MemoryService
from memories.stores.port import Store
from memories.stores.sqlite import SqliteStore


def build_store(settings: Settings) -> Store:
    """Open the store that the settings name. Raises UnusableDataFile."""
    return SqliteStore(settings.data)


def build_service(settings: Settings) -> MemoryService:
    """Return the service over the store that the settings name. Raises UnusableDataFile."""
    return MemoryService(build_store(settings))
