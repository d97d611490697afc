"""Stores that several servers share: DynamoDB, Redis and S3."""
