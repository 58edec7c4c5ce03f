"""What explorer pages have packed, without a browser."""
import base64
import re
import zlib


def unpacked(page):
    """The text of a page's profile: its strings stand there as they are."""
    data = base64.b64decode(re.search(r'<script [^>]*id="profile"[^>]*>([^<]*)<', page)[1])
    return zlib.decompress(data, -zlib.MAX_WBITS).decode(errors="replace")
