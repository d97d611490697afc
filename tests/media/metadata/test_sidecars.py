from satchel.media.metadata.sidecar_find import Sidecars
from satchel.media.metadata.xmp_packet import read_xmp, shorten_xmp


def test_a_photo_has_the_sidecars_beside_it() -> None:
    found = Sidecars(["IMG_1.xmp", "img_2.JPG.XMP", "IMG_2.xmp", "IMG_1.JPG.json", "IMG_3.MOV", "other.json"])
    assert found.of("IMG_1.JPG") == ["IMG_1.xmp", "IMG_1.JPG.json"]
    assert found.of("IMG_2.JPG") == ["img_2.JPG.XMP"]
    assert found.of("IMG_2.CR2") == ["IMG_2.xmp"]
    assert found.of("IMG_3.MOV") == []
    assert found.of("") == []


def test_a_shortened_packet_says_the_same() -> None:
    packet = """<x:xmpmeta><rdf:Description exif:DateTimeOriginal="2024-05-01T08:00:00.5+02:00" xmp:Rating="4"
      exif:GPSLatitude="48,51.0N" exif:GPSLongitude="2,21.0E" crs:ToneCurve="0, 0"><dc:description><rdf:Alt>
      <rdf:li xml:lang="x-default">&quot;Fran&#231;ois&quot; &lt;3 &amp; Co</rdf:li></rdf:Alt></dc:description>
      </rdf:Description></x:xmpmeta>"""
    short = shorten_xmp(packet)
    assert len(short) < len(packet)
    assert read_xmp(short) == read_xmp(packet)
    assert read_xmp(packet).description == '"François" <3 & Co'
    assert shorten_xmp("<nothing/>") == ""
