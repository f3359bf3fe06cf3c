"""HTML pages that need nothing else: no network, no other file, no script; dark where the screen is."""

from segtrack.html.page import inline_svg, render_page

__all__ = ["inline_svg", "render_page"]
