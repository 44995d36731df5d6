"""The HTTP door: an API Gateway function over the memory service."""
