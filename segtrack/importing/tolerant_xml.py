"""Parsing of XML that ROS, Gazebo and MuJoCo read and XML's rules do not allow."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from segtrack.description import XML_ERRORS

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PREFIX = re.compile(r"(?:</?|\s)([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*(?=[\s=/>])")
_ROOT = re.compile(r"<([A-Za-z_][\w.-]*)(?=[\s/>])")


def parse_xml(text: str) -> Element:
    """Parse the text of a file to its root element.

    Parsers of simulators pass over two dashes within a comment, a blank before the declaration, and prefixes
    of names that nothing declares.

    Raises:
        ElementTree.ParseError, LookupError, ValueError: It is no XML to those either; what XML's rules say.
    """
    try:
        return ElementTree.fromstring(text)
    except XML_ERRORS:
        try:
            return ElementTree.fromstring(_mended(text))
        except XML_ERRORS:
            pass
        raise


def _mended(text: str) -> str:
    """Text without comments and the blank before it, with its prefixes declared."""
    text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text.lstrip())
    prefixes = dict.fromkeys(_PREFIX.findall(text))
    declared = "".join(
        f' xmlns:{prefix}="{prefix}"'
        for prefix in prefixes
        if prefix not in ("xml", "xmlns") and f"xmlns:{prefix}" not in text
    )
    return _ROOT.sub(lambda root: root[0] + declared, text, count=1)
