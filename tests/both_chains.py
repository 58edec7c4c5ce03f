"""Recordings of --call-graph bpf,raw have each user chain twice: as the kernel's walk found it, and as the copied stack gives it."""
import itertools
import re
import subprocess

USER, CONTEXTS = 0xfffffffffffffe00, 0xfffffffffffff001


def walked_chains(sonde, recording):
    """{(thread, time): [address, ...]}, leaf first, as they are in the recording."""
    with subprocess.Popen([sonde, "script", "-D", "-i", recording], stdout=subprocess.PIPE) as dump:
        # Most of it are the bytes of the copies.
        with subprocess.Popen(["grep", "-E", r"^\.\.\.\.|: PERF_RECORD_SAMPLE"], stdin=dump.stdout, stdout=subprocess.PIPE, text=True,
                              env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}) as wanted:
            found = chains_of_dump(wanted.stdout)
    if dump.returncode != 0:
        raise RuntimeError(f"{sonde} script -D -i {recording} failed")
    return found


def chains_of_dump(lines):
    found, chain, in_user = {}, None, False
    for line in lines:
        if sample := re.match(r"(?:\d+ )?(\d+) 0x\w+ \[0x\w+\]: PERF_RECORD_SAMPLE\(.*?\): \d+/(\d+): ", line):
            chain = found[(int(sample[2]), int(sample[1]))] = []
            in_user = False
        elif line.startswith(".....") and chain is not None and (word := re.match(r"\.+ +\d+: ([0-9a-f]{16})$", line)):
            address = int(word[1], 16)
            if address >= CONTEXTS:
                in_user = address == USER
            elif in_user:
                chain.append(address)
    return found


def kind_of(walked, unwound):
    """"equal", or how they differ: "shorter" or "longer" is the walked one."""
    if walked == unwound:
        return "equal"
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(walked, unwound)))
    if same == len(walked):
        return "shorter"
    # Where the copy ends, unwinding goes on with the recorded chain, as if that had return addresses.
    rest = [address + 1 for address in unwound[same:]]
    if not rest or (same > 0 and rest in (walked[same:], walked[same - 1:])):
        return "longer"
    return "different"


LEAST_EQUAL = 0.995
FEW = 3  # of some hundreds, beyond that share: code moves, and tables arrive, between a sample and the reading


def agree(kinds):
    """Whether a recording's chains, counted by kind_of, are the same. Where the stack could not be copied, the walk has more."""
    count = sum(kinds[kind] for kind in ("equal", "shorter", "longer", "different"))
    return kinds["shorter"] + kinds["different"] <= (1 - LEAST_EQUAL) * count + FEW
