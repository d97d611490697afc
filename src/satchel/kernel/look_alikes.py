"""Whether two names look alike to a reader, whatever letters they are made of."""

import unicodedata

# Letters of other scripts, and digits, that most fonts draw like Latin ones.
_OTHERS = "авсԁеһіјкӏмнорԛгѕтуѵԝх" + "αβεικνορτυχω" + "015|$" + "ɑɡıⲃᴇᴘꜱᴏᴄᴠᴡᴢ"
_LATIN = "abcdehijklmhopqrstyvwx" + "abeiknoptuxw" + "olsls" + "agibepsocvwz"
# Capitals whose small letters look like others, and those of Cherokee, which all look like capitals.
_CAPITALS = "ΗΥΖϹ" + "ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᎩᏃ"
_LATIN_CAPITALS = "HYZC" + "ABCDEGHIJKLMPRSTVWYZ"
_DRAWN_LIKE = str.maketrans(_OTHERS, _LATIN)
_DRAWN_LIKE_CAPITALS = str.maketrans(_CAPITALS, _LATIN_CAPITALS)
# Letters and signs that fonts draw as nothing: fillers of Hangul, and the empty pattern of Braille.
_BLANK = "\u115f\u1160\u3164\uffa0\u2800"


def skeleton(name: str) -> str:
    """What is left of a name when everything is gone that a reader does not see. Alike names have the same."""
    plain = unicodedata.normalize("NFKC", name).translate(_DRAWN_LIKE_CAPITALS)
    folded = unicodedata.normalize("NFKD", plain.casefold())
    seen = (letter for letter in folded if unicodedata.category(letter)[0] not in "CMZP" and letter not in _BLANK)
    return "".join(seen).translate(_DRAWN_LIKE).replace("rn", "m").replace("vv", "w").replace("i", "l")
