"""Record, fold and rebuild where many servers share tables: clicks are counted from the table's change stream."""
