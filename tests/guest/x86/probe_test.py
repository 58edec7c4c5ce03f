"""`probe` in the kernel: on Debian's kernel, which has kprobes and BTF but no debug information. perf, in the same guest, lists and
removes what Sonde makes, and the other way round."""
import re
from pathlib import Path

from inside import PERF, SONDE, GuestTest

TRACING = Path("/sys/kernel/tracing")
# Sends 300 and 50 bytes through a socket of the loopback device.
SENDER = """
import socket, threading
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen()
def serve():
    peer, _ = listener.accept()
    while peer.recv(1000): pass
thread = threading.Thread(target=serve); thread.start()
client = socket.create_connection(listener.getsockname())
client.sendall(b"x" * 300); client.sendall(b"y" * 50); client.close(); thread.join()
"""
# Six echo requests to the loopback address, with answers: code, checksum and numbers of RFC 792.
PING = """
import socket, struct
wire = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
for number in range(6):
    words = struct.pack(">BBHHH", 8, 0, 0, 1, number)
    total = sum(struct.unpack(">4H", words))
    check = ~(total + (total >> 16)) & 0xffff
    wire.sendto(struct.pack(">BBHHH", 8, 0, check, 1, number), ("127.0.0.1", 0))
    wire.recv(100)
"""
SEND = ["python3", "-c", SENDER]


def kprobes():
    return (TRACING / "kprobe_events").read_text().splitlines()


class ProbeTest(GuestTest):
    def setUp(self):
        self.assertEqual(kprobes(), [])
        self.addCleanup(lambda: (TRACING / "kprobe_events").write_text(""))

    def values(self, event, field):
        lines = self.text(SONDE, "script", "-i", "probe.data", "-F", "event,trace").splitlines()
        return [int(found[1], 0) for line in lines if f"{event}:" in line and (found := re.search(rf"\b{field}=(\S+)", line))]

    def record(self, *words):
        self.run_tool(SONDE, "record", "-q", "-o", "probe.data", *words)

    def test_registers_and_what_is_returned(self):
        self.run_tool(SONDE, "probe", "-q", "-a", "tcp_sendmsg %ax bytes=%dx %cx", "-a", "tcp_sendmsg%return $retval")
        self.record("-e", "probe:tcp_sendmsg", "-e", "probe:tcp_sendmsg__return", "--", *SEND)
        self.assertEqual(self.values("probe:tcp_sendmsg", "bytes"), [300, 50])
        self.assertEqual(self.values("probe:tcp_sendmsg__return", "arg1"), [300, 50])
        self.record("-a", "-e", "probe:tcp_sendmsg", "--filter", "bytes > 100", "--", *SEND)
        self.assertEqual(self.values("probe:tcp_sendmsg", "bytes"), [300])

    def test_parameters_by_name(self):
        """From BTF, which the kernel has of itself."""
        self.run_tool(SONDE, "probe", "-q", "tcp_sendmsg size sk->__sk_common.skc_state")
        self.record("-e", "probe:tcp_sendmsg", "--", *SEND)
        self.assertEqual(self.values("probe:tcp_sendmsg", "size"), [300, 50])
        established = 1
        self.assertEqual(self.values("probe:tcp_sendmsg", "skc_state"), [established, established])

    def test_the_one_liners_of_icmp_rcv(self):
        """As they are written in tutorials, with a ping of our own: `probe icmp_rcv`, `record -e probe:icmp_rcv -aR`, `trace --ev`."""
        self.run_tool(SONDE, "probe", "icmp_rcv")
        self.record("-e", "probe:icmp_rcv", "-aR", "python3", "-c", PING)
        lines = self.text(SONDE, "script", "-i", "probe.data", "-F", "event").split()
        self.assertGreaterEqual(lines.count("probe:icmp_rcv:"), 6)
        traced = self.run_tool(SONDE, "trace", "--no-sys", "-a", "--ev", "sched:*process_exec,probe:*", "python3", "-c", PING)
        self.assertGreaterEqual(traced.stderr.count(" probe:icmp_rcv("), 6)
        self.assertIn(" sched:sched_process_exec(", traced.stderr)
        # A line needs debug information, which Debian has in a package of its own.
        done = self.run_tool(SONDE, "probe", "icmp_rcv:59", status=255)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("need debug information", done.stderr)

    def test_a_users_string(self):
        self.run_tool(SONDE, "probe", "-q", "opened=do_sys_openat2 filename:ustring")
        self.record("-e", "probe:opened", "--", "cat", "/proc/self/comm")
        text = self.text(SONDE, "script", "-i", "probe.data", "-F", "trace")
        self.assertIn('="/proc/self/comm"', text)

    def test_each_lists_and_removes_the_others(self):
        for maker, other in ((SONDE, PERF), (PERF, SONDE)):
            self.run_tool(maker, "probe", "-a", "tcp_sendmsg %di", "-a", "back=tcp_recvmsg%return $retval")
            theirs, ours = (sorted(self.text(tool, "probe", "-l").splitlines()) for tool in (PERF, SONDE))
            self.assertEqual(ours, theirs)
            self.assertEqual(len(ours), 2)
            self.run_tool(other, "probe", "-d", "tcp_*")
            self.assertEqual(len(kprobes()), 1)
            self.run_tool(other, "probe", "-d", "*")
            self.assertEqual(kprobes(), [])

    def test_what_is_made_is_what_perf_makes(self):
        """But for the place: perf writes it as an offset from _text."""
        for definition in ("tcp_sendmsg", "tcp_sendmsg%return $retval", "tcp_sendmsg %ax %dx %cx", "tcp_sendmsg bytes=%cx", "a=tcp_sendmsg+0"):
            made = []
            for tool in (PERF, SONDE):
                self.run_tool(tool, "probe", "-q", definition)
                made.append([word for i, word in enumerate(kprobes()[0].split()) if i != 1])
                (TRACING / "kprobe_events").write_text("")
            self.assertEqual(made[1], made[0], definition)

    def test_functions_of_modules(self):
        """In the guest the root directory is an overlay, by a module of Debian's kernel."""
        self.run_tool(SONDE, "probe", "-q", "-m", "overlay", "ovl_open %di")
        theirs, ours = (self.text(tool, "probe", "-l").splitlines() for tool in (PERF, SONDE))
        self.assertEqual(ours, theirs)
        self.record("-e", "probe:ovl_open", "-a", "--", "cat", "/etc/hostname")
        self.assertGreater(len(self.values("probe:ovl_open", "arg1")), 0)

    def test_refusals_are_one_line(self):
        for words, text in ((["nosuch_function"], "nosuch_function"), (["tcp_sendmsg %nosuch"], "%nosuch"), (["tcp_sendmsg nosuch"], "nosuch"),
                            (["tcp_sendmsg:81 seglen"], "debug information"), (["-a", "tcp_sendmsg", "-a", "x=tcp_sendmsg %nosuch"], "%nosuch")):
            done = self.run_tool(SONDE, "probe", *words, status=255)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual(kprobes(), [])

    def test_probes_of_a_run(self):
        self.record("--probe", "tcp_sendmsg size=%dx", "--", *SEND)
        self.assertEqual(self.values("probe:tcp_sendmsg", "size"), [300, 50])
        self.assertEqual(kprobes(), [])

    def test_latency(self):
        text = self.run_tool(SONDE, "probe", "--latency", "tcp_sendmsg", "--", *SEND).stdout
        self.assertRegex(text, r"(?m)^ +count: +2$")
        self.assertEqual(kprobes(), [])
