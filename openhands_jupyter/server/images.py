"""The image of Docker sandboxes: whether it will do, and pulling it when a person asks for it."""

from __future__ import annotations

from ..config import Config
from ..errors import SandboxUnavailable
from .answers import ImageStatus
from .base import ApiHandler, allowed
from .bodies import ImageQuery, NewPull


class ImageHandler(ApiHandler):
    """One image; the configured one where none is named."""

    @allowed("read")
    async def get(self) -> None:
        """Look into the image, or say how far its pull is."""
        self.answer(await self._status(self._image(self.query(ImageQuery).image)))

    @allowed("execute")
    async def post(self) -> None:
        """Begin to pull the image; it goes on if that was asked for before."""
        image = self._image(self.body(NewPull).image)
        self.services.pulls.start(image)
        self.answer(await self._status(image), 202)

    @allowed("execute")
    async def delete(self) -> None:
        """Stop the pull of the image, if there is one."""
        await self.services.pulls.cancel(self._image(self.query(ImageQuery).image))
        self.answer_nothing()

    def _image(self, named: str | None) -> str:
        configured = _configured(self.services.config)
        if named is not None and named != configured:
            self.services.config.require_unlocked(["docker_image"])
        return named or configured

    async def _status(self, image: str) -> ImageStatus:
        from ..runtime.docker.daemon import ImageMissing
        from ..runtime.docker.images import check_image

        pulls = self.services.pulls
        if progress := pulls.progress(image):
            return ImageStatus(
                image=image,
                state="pulling",
                message=progress.status,
                done=progress.done,
                total=progress.total,
            )
        try:
            report = await check_image(image)
        except ImageMissing as missing:
            why = pulls.problem(image) or missing
            return ImageStatus(image=image, state="missing", message=why.message, hint=why.hint)
        except SandboxUnavailable as why:
            return ImageStatus(image=image, state="unavailable", message=why.message, hint=why.hint)
        return ImageStatus(
            image=image,
            state="incomplete" if report.missing else "ready",
            python=report.python,
            ipykernel=report.ipykernel,
            lacks=report.missing,
            hint=report.hint,
        )


def _configured(config: Config) -> str:
    from ..runtime.docker.settings import DockerSettings

    return DockerSettings.of(config.settings.docker_image).image
