"""Draws an image anew as models take it: a program of its own, because nobody knows what it holds.

It reads the bytes of an image from its standard input; its argument is the media type. It writes
the new media type, a line end and the bytes. Where it cannot, it ends with another exit code than
0, by itself or by the system: an image may be made to take any memory and time, and may find a
fault in what decodes it. It opens no file and no connection for what stands in an image.
"""

from __future__ import annotations

import io
import re
import sys
from xml.etree import ElementTree

from PIL import Image, ImageOps

from openhands_jupyter.own_limits import limit

LONGEST_EDGE = 1_024
"""Pixels; providers make larger ones smaller themselves, or ask more for them."""

SHORTEST_EDGE = 32
"""Pixels to which the canvas is filled up; some models refuse what is narrower."""

MOST_PIXELS = 50_000_000
"""Of an image that is decoded at all."""

LARGEST_PNG = 500_000
"""Bytes; what takes more, such as a photograph, becomes a JPEG."""

MEMORY = 1_500_000_000
"""Bytes of address space."""

SECONDS = 10
"""Of the processor."""

SVG = "image/svg+xml"
_FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
_LENGTH = re.compile(r"\s*(\d{1,7}(?:\.\d{1,7})?)\s*(px|pt|pc|in|cm|mm|em)?\s*")
_UNITS = {"px": 1, "pt": 4 / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "em": 16}
_USUAL_SIZE = (300.0, 150.0)
"""Of an SVG that tells none, as in CSS 2.1, 10.3.2."""


def main() -> int:
    """Draw the image; the exit code."""
    limit(MEMORY, SECONDS)
    media_type, content = sys.argv[1], sys.stdin.buffer.read()
    if media_type == SVG:
        content = rasterised(content)
        media_type = "image/png"
    drawn_type, drawn = encoded(scaled(content, media_type), media_type)
    sys.stdout.buffer.write(drawn_type.encode() + b"\n" + drawn)
    return 0


def scaled(content: bytes, media_type: str) -> Image.Image:
    """The image, its first frame, upright, on white, and no larger than models take it."""
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2  # Pillow refuses what has twice as many.
    image: Image.Image = Image.open(io.BytesIO(content), formats=[_FORMATS[media_type]])
    if image.width * image.height > MOST_PIXELS:
        raise ValueError("too many pixels")
    if image.mode not in ("L", "LA", "RGB", "RGBA"):
        # Colours of a palette, for one, cannot be mixed.
        image = image.convert("RGBA")
    image.thumbnail((LONGEST_EDGE, LONGEST_EDGE), reducing_gap=2.0)
    image = ImageOps.exif_transpose(image).convert("RGBA")
    size = max(image.width, SHORTEST_EDGE), max(image.height, SHORTEST_EDGE)
    # Models see what is transparent as black, and charts are drawn for a white page.
    canvas = Image.new("RGB", size, "white")
    canvas.paste(image, mask=image)
    return canvas


def encoded(image: Image.Image, media_type: str) -> tuple[str, bytes]:
    """The media type and the bytes that an image becomes, without anything else of its file."""
    if media_type != "image/jpeg":
        as_png = io.BytesIO()
        image.save(as_png, "PNG")
        if as_png.tell() <= LARGEST_PNG:
            return "image/png", as_png.getvalue()
    as_jpeg = io.BytesIO()
    image.save(as_jpeg, "JPEG", quality=85)
    return "image/jpeg", as_jpeg.getvalue()


def rasterised(content: bytes) -> bytes:
    """An SVG as PNG, drawn at the size that it is shown at."""
    import resvg_py

    root = ElementTree.fromstring(content)
    width, height = _size(root)
    root.attrib.setdefault("viewBox", f"0 0 {width:g} {height:g}")
    scale = min(1.0, LONGEST_EDGE / max(width, height))
    root.set("width", f"{max(width * scale, 1):.0f}")
    root.set("height", f"{max(height * scale, 1):.0f}")
    for element in root.iter():
        # Only what is within the image itself: the renderer would open files.
        for name in [name for name in element.attrib if name.rpartition("}")[2] == "href"]:
            if not element.attrib[name].startswith(("#", "data:image/")):
                del element.attrib[name]
    # Only what was read here is drawn, whatever else a parser may make of the bytes.
    return bytes(resvg_py.svg_to_bytes(svg_string=ElementTree.tostring(root, "unicode")))


def _size(root: ElementTree.Element) -> tuple[float, float]:
    """Width and height in CSS pixels."""
    box = [float(part) for part in re.findall(r"-?[\d.]+", root.get("viewBox", ""))]
    usual = (box[2], box[3]) if len(box) == 4 and min(box[2:]) > 0 else _USUAL_SIZE
    width, height = (_pixels(root.get(name, "")) for name in ("width", "height"))
    if width and height:
        return width, height
    if width:
        return width, width * usual[1] / usual[0]
    if height:
        return height * usual[0] / usual[1], height
    return usual


def _pixels(length: str) -> float:
    """A length of CSS in pixels; 0 for one that depends on what is around the image."""
    found = _LENGTH.fullmatch(length)
    return float(found[1]) * _UNITS[found[2] or "px"] if found else 0.0


if __name__ == "__main__":
    sys.exit(main())
