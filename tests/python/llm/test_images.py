"""Images as models take them, drawn anew in a process of its own from bytes of anybody's."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
from PIL import Image

from openhands_jupyter.llm import images
from openhands_jupyter.llm.drawing import LONGEST_EDGE, SHORTEST_EDGE, SVG
from openhands_jupyter.llm.images import data_url

RED, WHITE, BLUE = (255, 0, 0), (255, 255, 255), (0, 0, 255)
COPY, NAME = "<use href='#g{}'/>", "&e{};"
NAMESPACES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


def encoded(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **options)
    return file.getvalue()


def drawn(content: bytes, media_type: str = "image/png") -> Image.Image:
    url = data_url(content, media_type)
    assert url is not None
    head, _, data = url.partition(",")
    image = Image.open(io.BytesIO(base64.b64decode(data, validate=True)))
    assert head == f"data:{image.get_format_mimetype()};base64"
    return image


def svg(inside: str, attributes: str = 'width="100" height="50"') -> bytes:
    return f"<svg {NAMESPACES} {attributes}>{inside}</svg>".encode()


def test_a_large_image_is_scaled_and_a_photograph_becomes_smaller_still() -> None:
    image = Image.effect_noise((1500, 1000), 200)
    photograph = drawn(encoded(image, compress_level=1))
    assert (photograph.format, photograph.size) == ("JPEG", (LONGEST_EDGE, 683))
    assert drawn(encoded(Image.new("RGB", (2000, 100), RED))).format == "PNG"


def test_what_is_transparent_is_white_as_on_the_page_and_what_is_tiny_gets_a_margin() -> None:
    image = Image.new("RGBA", (10, 40), (0, 0, 0, 0))
    image.putpixel((5, 5), (*RED, 255))
    small = drawn(encoded(image))
    assert small.size == (SHORTEST_EDGE, 40)
    assert (small.getpixel((5, 5)), small.getpixel((0, 0))) == (RED, WHITE)


def test_a_photograph_is_upright_and_what_its_file_says_of_its_making_stays_here() -> None:
    image = Image.new("RGB", (400, 200), RED)
    about = image.getexif()
    about[0x0112] = 6  # Taken with the camera turned.
    about[0x010E] = "at home"
    photograph = drawn(encoded(image, "JPEG", exif=about), "image/jpeg")
    assert photograph.size == (200, 400)
    assert not photograph.getexif()


@pytest.mark.parametrize("mode", ["1", "P", "LA", "I;16"])
def test_images_of_any_kind_of_colour_are_drawn(mode: str) -> None:
    assert drawn(encoded(Image.new(mode, (3000, 50)))).size == (LONGEST_EDGE, SHORTEST_EDGE)


def test_of_a_film_the_first_frame_is_drawn() -> None:
    frames = [Image.new("RGB", (40, 40), colour) for colour in (RED, BLUE)]
    film = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert drawn(film, "image/gif").convert("RGB").getpixel((5, 5)) == RED


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="100" height="50"', (100, 50)),
        ('width="150pt" height="75pt" viewBox="0 0 10 5"', (200, 100)),
        ('width="90000" height="45000"', (1024, 512)),
        ('width="100%" viewBox="0 0 400 200"', (400, 200)),
        ("", (300, 150)),
    ],
)
def test_a_drawing_becomes_pixels_of_the_size_that_it_is_shown_at(
    attributes: str, size: tuple[int, int]
) -> None:
    image = drawn(svg('<rect width="50%" height="100%" fill="blue"/>', attributes), SVG)
    assert image.size == size
    left, right = image.getpixel((size[0] // 4, 20)), image.getpixel((size[0] * 3 // 4, 20))
    assert (left, right) == (BLUE, WHITE)


def test_a_drawing_shows_no_file_of_the_server(tmp_path: Path) -> None:
    file = tmp_path / "private.png"
    file.write_bytes(encoded(Image.new("RGB", (100, 50), RED)))
    whole = 'width="100" height="50"'
    within = svg(f'<image href="{file}" {whole}/>')
    nested = f"data:image/svg+xml;base64,{base64.b64encode(within).decode()}"
    elements = [
        f'<{tag} {attribute}="{source}{file}" {whole}/>'
        for tag in ("image", "use")
        for attribute in ("href", "xlink:href")
        for source in ("", "file://", " ")
    ]
    elements.append(f'<image href="{nested}" {whole}/>')
    elements.append(f'<filter id="f"><feImage href="{file}"/></filter>')
    elements.append(f'<rect {whole} fill="white" filter="url(#f)"/>')
    declared = f'<!DOCTYPE svg [<!ENTITY f "{file}">]>'.encode()
    entity = declared + svg(f'<image href="&f;" {whole}/>')
    for content in (svg("".join(elements)), entity):
        image = drawn(content, SVG).convert("RGB")
        assert image.getcolors() == [(100 * 50, WHITE)]
    own = base64.b64encode(file.read_bytes()).decode()
    inside = drawn(svg(f'<image href="data:image/png;base64,{own}" {whole}/>'), SVG)
    assert inside.getpixel((50, 25)) == RED, "what an image holds itself is drawn"


def bomb_of_names() -> bytes:
    names = "".join(f'<!ENTITY e{n} "{NAME.format(n - 1) * 10}">' for n in range(1, 12))
    return f'<!DOCTYPE svg [<!ENTITY e0 "boom">{names}]>'.encode() + svg("<text>&e11;</text>")


def bomb_of_copies() -> bytes:
    groups = "".join(f'<g id="g{n}">{COPY.format(n - 1) * 10}</g>' for n in range(1, 12))
    return svg(f'<g id="g0"><rect width="1" height="1"/></g>{groups}<use href="#g11"/>')


REFUSED = {
    "damaged": (encoded(Image.new("RGB", (500, 500)))[:60], "image/png"),
    "empty": (b"", "image/png"),
    "of another format than it says": (encoded(Image.new("L", (9, 9)), "BMP"), "image/png"),
    "a bomb of pixels": (encoded(Image.new("1", (30_000, 30_000))), "image/png"),
    "a bomb of names": (bomb_of_names(), SVG),
    "a bomb of copies": (bomb_of_copies(), SVG),
    "too deep": (svg("<g>" * 100_000 + "</g>" * 100_000), SVG),
    "no drawing": (b"<svg", SVG),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_damaged_or_made_to_do_harm_is_not_drawn(name: str) -> None:
    assert data_url(*REFUSED[name]) is None


def test_what_does_not_come_to_an_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    image = encoded(Image.new("RGB", (100, 100)))
    assert data_url(image, "image/png") is not None
    monkeypatch.setattr(images, "_LONGEST_WAIT", 0.001)
    assert data_url(image, "image/png") is None
