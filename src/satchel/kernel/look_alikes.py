"""Whether two names look alike to a reader, whatever letters they are made of."""

import unicodedata

# Letters of other scripts, and digits, that most fonts draw like Latin ones.
_OTHERS = "авсԁеһіјкӏмнорԛгѕтуѵԝх" + "αβεικνορτυχω" + "015|$"
_LATIN = "abcdehijklmhopqrstyvwx" + "abeiknoptuxw" + "olsls"
_DRAWN_LIKE = str.maketrans(_OTHERS, _LATIN)


def skeleton(name: str) -> str:
    """What is left of a name when everything is gone that a reader does not see. Alike names have the same."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    seen = (letter for letter in folded if unicodedata.category(letter)[0] not in "CMZP")
    return "".join(seen).translate(_DRAWN_LIKE).replace("rn", "m").replace("vv", "w").replace("i", "l")
