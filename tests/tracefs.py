"""The tracefs that has the kernel's events, of all that are mounted: others may be of containers, and empty."""
from pathlib import Path

USUAL = Path("/sys/kernel/tracing")


def find():
    places = [Path(line.split()[1]) for line in Path("/proc/mounts").read_text().splitlines() if line.split()[2] == "tracefs"]
    return next((place for place in (USUAL, *places) if (place / "events").is_dir()), USUAL)


TRACEFS = find()
