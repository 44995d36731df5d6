"""The product's store: one DynamoDB table, which template.yaml defines."""

from memories.stores.dynamodb.store import DynamoDBStore

__all__ = ["DynamoDBStore"]
