"""Films of a running simulation, frame by frame into ffmpeg."""

from __future__ import annotations

import errno
import math
import os
import subprocess
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from segtrack.errors import FileAccessError, InvalidValueError, finite
from segtrack.files import check_writable
from segtrack.rendering.camera import SIZE, Camera, FreeBody, PosedVehicle, View
from segtrack.robot import Robot, attitude_of
from segtrack.terrain import Terrain

FRAME_RATE = 25.0
"""Frames a second."""
MAX_FRAME_RATE = 1000.0
_INK = (30, 34, 38)
_MP4 = ["-preset", "veryfast", "-crf", "20"]
_PALETTE = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"
_CODECS: dict[str, dict[str, Any]] = {
    ".mp4": {"codec": "libx264", "output_params": _MP4},
    ".gif": {"codec": "gif", "pix_fmt_out": "pal8", "output_params": ["-filter_complex", _PALETTE]},
}
"""Options of ffmpeg for each kind of file; nothing that holds more than a few frames."""


def film_writer(path: Path, size: tuple[int, int], frame_rate: float) -> Generator[None, bytes, None]:
    """Open a film file; send it frames as bytes of red, green and blue, and `close()` it at the end.

    Args:
        path: File to write, .mp4 or .gif.
        size: Width and height, even numbers [pixels].
        frame_rate: Frames per second.

    Raises:
        OSError: The file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    writer: Generator[None, bytes, None] = imageio_ffmpeg.write_frames(
        str(path),
        size,
        fps=frame_rate,
        quality=None,
        macro_block_size=2,
        ffmpeg_log_level="fatal",
        **_CODECS[path.suffix.lower()],
    )
    next(writer)
    return writer


class Film:
    """Film of a robot from a `Camera`, with the time and the body's attitude written on it.

    It is written straight to its file. Whatever ends the program, the file plays up to there: once this
    process is gone, ffmpeg sees the end of its input and finishes it.
    """

    def __init__(
        self,
        path: str | Path,
        robot: Robot | PosedVehicle,
        terrains: Iterable[Terrain] = (),
        *,
        view: View = "side",
        frame_rate: float = FRAME_RATE,
        size: tuple[int, int] = SIZE,
        bodies: Iterable[FreeBody] = (),
    ) -> None:
        """Begin a film; the file appears with its first frame and replaces an older one.

        Args:
            path: File to write, .mp4 or .gif.
            robot: Robot in any engine, or a vehicle at a given pose.
            terrains: Ground to show, such as `World.terrains`.
            view: `side`, `top`, `oblique` or `chase`; see `Camera`.
            frame_rate: Frames per second of simulated time, which is also the film's.
            size: Width and height, even numbers [pixels].
            bodies: Other bodies to show; see `free_body`.

        Raises:
            InvalidValueError: Another kind of file, or a frame rate or size that cannot be.
            UnknownNameError: No such view.
            FileAccessError: The file cannot be written.
        """
        self.path = Path(path)
        if self.path.suffix.lower() not in _CODECS:
            raise InvalidValueError("record", f"a file of {' or '.join(_CODECS)}", str(path))
        if not 0 < finite("frame rate [1/s]", frame_rate) <= MAX_FRAME_RATE:
            raise InvalidValueError("frame rate [1/s]", f"above 0, up to {MAX_FRAME_RATE:g}", frame_rate)
        self._camera = Camera(robot, terrains, view=view, size=size, bodies=bodies)
        check_writable(self.path.parent)
        if self.path.is_dir():
            raise FileAccessError("write to", self.path, os.strerror(errno.EISDIR))
        self._frame_rate, self._frames = frame_rate, 0
        self._begin: float | None = None
        self._text_size = max(11, size[1] // 24)
        self._font = ImageFont.load_default(self._text_size)
        self._writer: Generator[None, bytes, None] | None = None

    def __enter__(self) -> Film:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file; after an error or Ctrl-C it contains the frames so far."""
        self.close()

    def take(self, time: float) -> None:
        """Take the frames due by a time [s]; if several are due, they show the same picture.

        Raises:
            FileAccessError: The file cannot be written.
        """
        self._begin = time if self._begin is None else self._begin
        due = math.floor((time - self._begin) * self._frame_rate + 1e-6) + 1 - self._frames
        if due <= 0:
            return
        frame = self._label(self._camera.take(), time).tobytes()
        try:
            if self._writer is None:
                self._writer = film_writer(self.path, self._camera.size, self._frame_rate)
            for _ in range(due):
                self._writer.send(frame)
                self._frames += 1
        except OSError as error:
            raise FileAccessError("write to", self.path, str(error).partition("\n")[0]) from None

    def close(self) -> None:
        """Finish the file; may be called more than once."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _label(self, picture: NDArray[np.uint8], time: float) -> NDArray[np.uint8]:
        """Write the time and the attitude on a picture."""
        image = Image.fromarray(picture)
        subject, margin = self._camera.subject, self._text_size // 2
        _, pitch, yaw = attitude_of(subject.pose.body.rotation)
        turned = ("yaw", yaw) if self._camera.view == "top" else ("pitch", pitch)
        degrees = round(math.degrees(turned[1]), 1) + 0.0
        words = f"{subject.look.name}   {time:.2f} s   {turned[0]} {degrees:.1f} deg"
        draw = ImageDraw.Draw(image)
        draw.text((margin, margin), words, _INK, self._font)
        below = margin, image.height - margin
        draw.text(below, f"squares {self._camera.square:g} m", _INK, self._font, anchor="ld")
        return np.asarray(image)


def join_films(path: Path, left: Path, right: Path) -> Path:
    """Write two films of equal frame rate and size side by side, and return the path.

    The shorter one stands still at its end.

    Args:
        path: File to write, .mp4 or .gif.
        left: Film for the left half.
        right: Film for the right half.

    Raises:
        FileAccessError: The file cannot be written.
    """
    frames = [imageio_ffmpeg.count_frames_and_secs(str(film))[0] for film in (left, right)]
    held = [f"[{i}]tpad=stop={max(frames) - count}:stop_mode=clone[{i}h]" for i, count in enumerate(frames)]
    joined = ";".join([*held, "[0h][1h]hstack"])
    if path.suffix.lower() == ".gif":
        output = ["-filter_complex", f"{joined},{_PALETTE}"]
    else:
        output = ["-filter_complex", joined, "-c:v", "libx264", "-pix_fmt", "yuv420p", *_MP4]
    path.parent.mkdir(parents=True, exist_ok=True)
    call = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-v", "fatal", "-i", str(left), "-i", str(right)]
    done = subprocess.run([*call, *output, str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise FileAccessError("write to", path, done.stderr.partition("\n")[0])
    return path
