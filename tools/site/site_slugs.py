"""Anchors of headings as GitHub makes them, which the links between the pages use."""
import re


def github(text, _separator="-"):
    text = re.sub(r"<[^>]+>", "", text).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text))
