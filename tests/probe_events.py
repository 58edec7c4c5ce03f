"""Probes of tests: in their programs, and those that they leave in tracefs until they remove them."""
import subprocess
import time

# A probe as <sys/sdt.h> creates it: a nop, and a note that says where it is and where its arguments are ("-4@%0 8@%1").
USDT_NOTE = r"""
#define NOTE(name, semaphore, arguments, ...)                                      \
  __asm__ volatile("990: nop\n"                                                    \
                   ".pushsection .note.stapsdt,\"\",\"note\"\n"                    \
                   ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                   \
                   "991: .asciz \"stapsdt\"\n992: .balign 4\n"                     \
                   "993: .8byte 990b\n.8byte 0\n.8byte " semaphore "\n"            \
                   ".asciz \"app\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n" \
                   "994: .balign 4\n.popsection\n" ::__VA_ARGS__)
"""


def remove_probes(sonde, pattern):
    """Removes those that match, if there are any. The kernel may use a probe a little longer than the program that recorded it runs."""
    deadline = time.monotonic() + 60
    while True:
        done = subprocess.run([sonde, "probe", "-q", "-d", pattern], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode == 0 or "is in use" not in done.stderr:
            return
        if time.monotonic() > deadline:
            raise AssertionError(done.stderr)
        time.sleep(0.01)
