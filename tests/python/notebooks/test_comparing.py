"""What counts as the same output, and what does not."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import pytest

from openhands_jupyter.notebooks.cleanroom.comparing import comparable


def printed(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data: Any) -> dict[str, Any]:
    bundle = {key.replace("_", "/", 1).replace("_", "+"): value for key, value in data.items()}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def png(pixels: bytes, level: int, *texts: bytes) -> str:
    def chunk(kind: bytes, content: bytes) -> bytes:
        crc = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)

    rows = b"".join(b"\0" + pixels[at : at + 4] for at in range(0, len(pixels), 4))
    header = struct.pack(">IIBBBBB", 4, len(pixels) // 4, 8, 0, 0, 0, 0)
    packed = zlib.compress(rows, level)
    half = len(packed) // 2
    chunks = [
        chunk(b"IHDR", header),
        *(chunk(b"tEXt", text) for text in texts),
        chunk(b"IDAT", packed[:half]),
        chunk(b"IDAT", packed[half:]),
        chunk(b"IEND", b""),
    ]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks)).decode()


SVG = """<svg><metadata><date>{0}</date></metadata><defs><path id="m{0}a" d="M 0 0"/>
<clipPath id="p{0}"/></defs><use href="#m{0}a"/><g clip-path="url(#p{0})">{1}</g></svg>"""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (printed("<A object at 0x7f1234567890>"), printed("<A object at 0x7fabcdef0123>")),
        (printed("a\nb\n"), {**printed(""), "text": ["a\n", "b\n"]}),
        (
            printed("CPU times: user 3 ms, sys: 1 ms, total: 4 ms\nWall time: 4.1 ms\n"),
            printed("CPU times: user 9 ms, sys: 0 ns, total: 9 ms\nWall time: 1 s\n"),
        ),
        (
            printed("9.1 ns ± 0.2 ns per loop (mean ± std. dev. of 7 runs, 100 loops each)"),
            printed("11 ns ± 1 ns per loop (mean ± std. dev. of 7 runs, 100 loops each)"),
        ),
        (
            printed(
                " 10%|#   | 1/10 [00:01<00:09,  1.0it/s]\r100%|####| 10/10 [00:10<00:00, 1.0it/s]"
            ),
            printed("100%|####| 10/10 [00:03<00:00, 3.2it/s]"),
        ),
        (printed("\x1b[31mred\x1b[0m"), printed("red")),
        (
            printed("/tmp/ipykernel_123/456.py:1: UserWarning: x", "stderr"),
            printed("/scratch/ipykernel_7/89.py:1: UserWarning: x", "stderr"),
        ),
        (
            {**shown(text_plain="1"), "output_type": "execute_result", "execution_count": 3},
            {**shown(text_plain="1"), "output_type": "execute_result", "execution_count": 1},
        ),
        (
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["one"]},
            {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["other"]},
        ),
        (
            shown(text_html='<div id="8f14e45f-ceea-467f-a0e6-1c2d3e4f5a6b">x</div>'),
            shown(text_html='<div id="00000000-ceea-467f-a0e6-1c2d3e4f5a6b">x</div>'),
        ),
        (
            shown(text_html='<style>#T_a1b2c_row0 {}</style><td id="T_a1b2c_row0">'),
            shown(text_html='<style>#T_99999_row0 {}</style><td id="T_99999_row0">'),
        ),
        (
            shown(image_png=png(b"abcdefgh", 9, b"Software\0one")),
            shown(image_png=png(b"abcdefgh", 0, b"Software\0other")),
        ),
        (shown(image_svg_xml=SVG.format("1", "x")), shown(image_svg_xml=SVG.format("77", "x"))),
        (
            shown(**{"application_vnd.jupyter.widget-view+json": {"model_id": "a"}}),
            shown(**{"application_vnd.jupyter.widget-view+json": {"model_id": "b"}}),
        ),
        (shown(application_json={"a": 1, "b": 2}), shown(application_json={"b": 2, "a": 1})),
    ],
)
def test_what_varies_by_itself_is_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert comparable([one]) == comparable([other])
    assert comparable([one])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (printed("1"), printed("2")),
        (printed("1"), printed("1", "stderr")),
        (printed("a\nb"), printed("b\na")),
        (printed("value 0x7f"), printed("value 0x80")),
        (printed("d41d8cd98f00b204e9800998ecf8427e"), printed("900150983cd24fb0d6963f7d28e17f72")),
        (printed("2026-01-01"), printed("2026-01-02")),
        (shown(text_plain="a", text_html="<b>a</b>"), shown(text_plain="a", text_html="<b>b</b>")),
        (shown(text_plain="a", text_html="<b>a</b>"), shown(text_plain="a")),
        (shown(image_png=png(b"abcdefgh", 9)), shown(image_png=png(b"abcdefgH", 9))),
        (shown(image_png="bm8gcG5n"), shown(image_png="bm8gcG5o")),
        (shown(image_svg_xml=SVG.format("1", "x")), shown(image_svg_xml=SVG.format("1", "y"))),
        (shown(application_json={"a": 1}), shown(application_json={"a": 2})),
        (
            {"output_type": "error", "ename": "E", "evalue": "v"},
            {"output_type": "error", "ename": "E", "evalue": "w"},
        ),
    ],
)
def test_what_differs_is_different(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert comparable([one]) != comparable([other])


def test_how_printed_text_is_cut_into_outputs_does_not_count() -> None:
    whole = [printed("a\nb\n"), printed("w\n", "stderr"), shown(text_plain="x")]
    cut = [printed("a\n"), printed("w\n", "stderr"), shown(text_plain="x"), printed("b\n")]
    assert comparable(whole) == comparable(cut) == "a\nb\n[stderr]\nw\nx"


def test_names_of_folders_are_replaced() -> None:
    assert comparable([printed("in /tmp/x/ws/a")], {"/tmp/x/ws": "/home/me/ws"}) == (
        "in /home/me/ws/a"
    )


def test_a_picture_that_would_fill_the_memory_is_not_unpacked_whole() -> None:
    packed = zlib.compress(b"\0" * 300_000_000, 1)
    chunk = struct.pack(">I", len(packed)) + b"IDAT" + packed + b"\0\0\0\0"
    text = base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunk).decode()
    assert comparable([shown(image_png=text)]).startswith("[image/png")
