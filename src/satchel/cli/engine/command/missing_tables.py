"""Say briefly what of the declared tables is not in a store."""


def essential(missing: list[str]) -> list[str]:
    """Without the parts of a table that is missing as a whole."""
    whole = [words for words in missing if words.startswith("table ")]
    return [words for words in missing if not any(words.endswith(f" of {table}") for table in whole)]
