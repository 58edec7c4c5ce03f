"""Call chains that are known beforehand: samples at places in programs/stops.c, taken by breakpoints, with the expected chains.
For the tests of this machine and of the arm64 guest."""
import collections
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(__file__).parent / "programs" / "stops.c"
COMPILE = ["-O2", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-no-pie", "-Wl,-z,lazy", "-Wall", "-Wextra"]
AT_ONCE = 4  # breakpoints that a processor has at least
HANDLER = ("stop_in_handler", "on_signal", "signal frame")
SAVES = ("stop_saves", "call_saves", "main")

# The chains of all samples at the beginning of a function, with their number; other code is left out.
CHAINS = {
    "stop_leaf": {("stop_leaf", "call_leaf", "main"): 1, ("stop_leaf", "call_leaf", *SAVES): 3},
    "stop_saves": {SAVES: 1},
    "stop_no_return": {("stop_no_return", "ends_in_a_call", "call_no_return", "main"): 1},
    "stop_in_handler": {(*HANDLER, "main"): 1, (*HANDLER, "traps", "call_traps", "main"): 1, (*HANDLER, "traps"): 1},
    "stop_in_context": {("stop_in_context", "coroutine"): 1},
    "stop_on_green_stack": {("stop_on_green_stack", "green_thread", "on_green_stack"): 1},
    "stop_under_generated": {("stop_under_generated", "from_generated", "call_generated", "main"): 1},
}
# This chain continues if the other stack can be read, too: a copy holds only the one that the thread is on.
CUT = (*HANDLER, "traps")
WHOLE = (*HANDLER, "traps", "call_traps_on_other_stack", "main")
OURS = {name for chains in CHAINS.values() for chain in chains for name in chain} | {*WHOLE, "call_plt", "call_vdso", "call_leaf"}


def symbols(program):
    """Name -> address, for a program that is not relocated."""
    text = subprocess.run(["nm", program], text=True, stdout=subprocess.PIPE, check=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in text.splitlines() if len(line.split()) == 3}


def our_part(names):
    """A chain without library code, its signal frame under one name: what a handler returns to has none if libc's symbols are not
    installed."""
    frames = []
    for name in names:
        is_signal_frame = re.search(r"^__restore_rt$|sigreturn|<signal handler called>", name) or (
            frames[-1:] == ["on_signal"] and name not in OURS)
        frames.append("signal frame" if is_signal_frame else name)
    return tuple(name for name in frames if name in OURS)


def chains(text):
    """Event -> its samples' chains, from `script -F event,ip,sym`."""
    found = collections.defaultdict(list)
    for sample in text.split("\n\n"):
        lines = sample.strip("\n").splitlines()
        if lines:
            names = [line.split(None, 1)[1].split("+")[0] if len(line.split()) > 1 else "" for line in lines[1:]]
            found[lines[0].strip().rstrip(":")].append(our_part(names))
    return found


def in_parts(addresses):
    addresses = list(addresses)
    return [addresses[i:i + AT_ONCE] for i in range(0, len(addresses), AT_ONCE)]


def record(tool, addresses, recording, command, *more):
    events = [word for address in addresses for word in ("-e", f"mem:{address:#x}:x")]
    subprocess.run([tool, "record", "-o", recording, *events, "-c", "1", *more, "--", *command], check=True, timeout=600,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def wrong(name, seen, may_repeat=False):
    """What is wrong with the chains at a function; nothing if all are correct. A kernel that steps over a breakpoint (arm64) hits
    it again if an interrupt comes in between: `may_repeat`."""
    seen = collections.Counter(CUT if WHOLE[:len(chain)] == chain and len(chain) > len(CUT) else chain for chain in seen)
    is_right = seen == CHAINS[name]
    if may_repeat:
        is_right = seen.keys() == CHAINS[name].keys() and all(seen[chain] >= times for chain, times in CHAINS[name].items())
    return "" if is_right else f"{name}: {dict(seen)}\n  should be {CHAINS[name]}"
