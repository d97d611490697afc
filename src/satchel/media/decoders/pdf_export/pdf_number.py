"""A number as PDF wants it: short, and never with an exponent."""


def number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
