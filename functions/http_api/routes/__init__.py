"""The routes. Each translates: its arguments are read, one service call, the reply shaped.

Importing this declares their operations.
"""

import http_api.routes.access_log
import http_api.routes.agents
import http_api.routes.health
import http_api.routes.me
import http_api.routes.memories
import http_api.routes.relations
import http_api.routes.tags
import http_api.routes.transfer  # noqa: F401
