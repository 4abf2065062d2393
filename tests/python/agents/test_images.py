"""Images in results: which a model is shown, and which of them stay in view."""

from __future__ import annotations

import pytest

from openhands_jupyter.agents.images import DROPPED_AT_ONCE, MOST, PromptImage, images_of, in_view
from openhands_jupyter.agents.results import result
from openhands_jupyter.events import (
    Blob,
    IPythonOutputObservation,
    KernelCodeObservation,
    Output,
    ShownImage,
)
from openhands_jupyter.events.kernels import UserKernel

KERNEL = UserKernel(id="k", name="Python 3")
BLOB = Blob(sha256="0" * 64, media_type="image/png", size=1)


def display(**data: object) -> Output:
    return Output(
        kind="display_data", data={mime.replace("_", "/"): value for mime, value in data.items()}
    )


def image(number: int) -> PromptImage:
    shown = ShownImage(handle=f"image {number}", blob=BLOB)
    return PromptImage(number=number, label="", image=shown)


def test_the_newest_images_are_in_view_and_old_ones_leave_several_at_once() -> None:
    images = [image(number) for number in range(100)]
    earlier: list[PromptImage] = []
    for count in range(1, len(images) + 1):
        shown = list(in_view(images[:count]))
        if len(earlier) == MOST:
            earlier = earlier[DROPPED_AT_ONCE:]
        assert shown == [*earlier, images[count - 1]]
        earlier = shown


@pytest.mark.parametrize("kind", ["sandbox", "kernel"])
def test_images_are_called_what_the_text_calls_them(kind: str) -> None:
    drawing = {"type": "Blob", "sha256": "1" * 64, "media_type": "image/svg+xml", "size": 2}
    outputs = [
        Output(kind="stream", text="printed"),
        display(image_jpeg=BLOB, image_png=BLOB, text_plain="<Figure>"),
        display(image_bmp="Qk0="),
        *(display(**{"image_svg+xml": drawing}) for _ in range(5)),
    ]
    event = (
        IPythonOutputObservation(outputs=outputs)
        if kind == "sandbox"
        else KernelCodeObservation(path="a.ipynb", kernel=KERNEL, outputs=outputs)
    )
    text = result(event)
    assert text.count("image/png output (image 1), 1 bytes") == 1
    assert "image/jpeg" not in text
    assert "image/svg+xml output (image 6), 2 bytes" in text
    images = images_of(event)
    assert [one.handle for one in images] == [f"image {n}" for n in range(1, 5)]
    assert [one.blob.media_type for one in images] == ["image/png", *["image/svg+xml"] * 3]
