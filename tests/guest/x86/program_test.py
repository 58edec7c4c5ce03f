"""BPF programs as events at kernel functions: on Debian's kernel, which has kprobes."""
import re
from pathlib import Path

from inside import PERF, SONDE, GuestTest, meaningful

TRACING = Path("/sys/kernel/tracing")
# Accepts every second call of one function, all returns of the other.
PROGRAM = r"""
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, 1);
} calls SEC(".maps");
SEC("half=ksys_write") int on_write(void* context) {
  __u32 slot = 0;
  __u32* count = bpf_map_lookup_elem(&calls, &slot);
  return count ? (*count)++ & 1 : 0;
}
SEC("kretprobe/ksys_write") int on_return(void* context) { return 1; }
char _license[] SEC("license") = "GPL";
int _version SEC("version") = LINUX_VERSION_CODE;
"""
# Its writes are counted, and so are those of whatever else runs, because the program sees all tasks. So nothing here is exact.
WORKLOAD = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=400"]

# Tells what it is passed: of the function's parameters, which BTF describes, and what it returns.
ARGUMENTS = r"""
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, __NR_CPUS__);
} channel SEC(".maps");
SEC("sent=tcp_sendmsg size sk->__sk_common.skc_state") int on_send(void* context, int error, long size, long state) {
  long told[] = {1, error, size, state};
  bpf_perf_event_output(context, &channel, BPF_F_CURRENT_CPU, told, sizeof told);
  return 1;
}
SEC("done=tcp_sendmsg%return $retval:s32") int on_return(void* context, int error, long sent) {
  long told[] = {2, error, sent, 0};
  bpf_perf_event_output(context, &channel, BPF_F_CURRENT_CPU, told, sizeof told);
  return 1;
}
char _license[] SEC("license") = "GPL";
"""
# The documents' example: each allocation from a cache tells of itself, and is an event with its call chain.
ALLOCATIONS = r"""
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
  __uint(max_entries, __NR_CPUS__);
} channel SEC(".maps");
SEC("func=kmem_cache_alloc") int on_allocation(void* context) {
  char told[] = "Raise a BPF event!";
  bpf_perf_event_output(context, &channel, BPF_F_CURRENT_CPU, told, sizeof told);
  return 1;
}
char _license[] SEC("license") = "GPL";
"""
# Sends 300 and 50 bytes through a socket of the loopback device.
SENDER = """
import socket
listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen()
client = socket.create_connection(listener.getsockname())
client.sendall(b"x" * 300); client.sendall(b"y" * 50)
"""


class ProgramTest(GuestTest):
    def setUp(self):
        (self.path / "writes.c").write_text(PROGRAM)

    def test_kernel_functions_are_filtered(self):
        counts = self.counts(SONDE, "./writes.c", *WORKLOAD)
        self.assertEqual(set(counts), {"perf_bpf_probe:half", "perf_bpf_probe:ksys_write"})
        half, whole = (counts[name][0] for name in ("perf_bpf_probe:half", "perf_bpf_probe:ksys_write"))
        self.assertGreaterEqual(whole, 400)
        self.assertGreater(half, whole // 4)
        self.assertLess(half, whole)
        self.assertNotIn("sonde_", (TRACING / "kprobe_events").read_text())

    def test_recordings_of_them_are_read_by_both(self):
        self.run_tool(SONDE, "record", "-o", "writes.data", "-e", "./writes.c", "--", *WORKLOAD)
        theirs, ours = (meaningful(self.text(tool, "script", "-i", "writes.data", "-F", "comm,tid,time,event,trace"))
                        for tool in (PERF, SONDE))
        self.assertEqual(ours, theirs)
        self.assertGreater(len([line for line in ours if "perf_bpf_probe:ksys_write" in line and " <- " in line]), 399)

    def test_parameters_of_kernel_functions_are_passed(self):
        (self.path / "sends.c").write_text(ARGUMENTS)
        self.run_tool(SONDE, "record", "-o", "sends.data", "-e", "bpf-output/no-inherit,name=told/", "-e",
                      "./sends.c/map:channel.event=told/", "-a", "--", "python3", "-c", SENDER)
        text = self.text(SONDE, "script", "-i", "sends.data", "-F", "event,bpf-output")
        told = []
        for sample in re.findall(r"told:.*\n((?:\s+(?:BPF output: )?[0-9a-f]{4}: .*\n)+)", text):
            digits = "".join(re.findall(r"[0-9a-f]{4}: ((?:[0-9a-f]{2} )+)", sample)).replace(" ", "")
            told.append([int.from_bytes(bytes.fromhex(digits[at:at + 16]), "little", signed=True) for at in range(0, 64, 16)])
        established = 1
        self.assertEqual([words for words in told if words[0] == 1], [[1, 0, 300, established], [1, 0, 50, established]])
        self.assertEqual([words for words in told if words[0] == 2], [[2, 0, 300, 0], [2, 0, 50, 0]])
        fields = re.findall(r"perf_bpf_probe:sent: .* size=(\S+)", self.text(SONDE, "script", "-i", "sends.data", "-F", "event,trace"))
        self.assertEqual([int(size, 0) for size in fields], [300, 50])

    def test_allocations_tell_of_themselves_with_their_callers(self):
        (self.path / "allocations.c").write_text(ALLOCATIONS)
        self.run_tool(SONDE, "record", "-o", "allocations.data", "-a", "-g", "-e", "bpf-output/no-inherit,name=evt/", "-e",
                      "./allocations.c/map:channel.event=evt/", "--", "true")
        theirs, ours = (meaningful(self.text(tool, "script", "-i", "allocations.data", "-G", "-F", "comm,tid,time,event"))
                        for tool in (PERF, SONDE))
        for our_line, perfs_line in zip(ours, theirs):  # thousands: a difference of the whole would take minutes to show
            self.assertEqual(our_line, perfs_line)
        self.assertEqual(len(ours), len(theirs))
        samples = re.split(r"\n\s*\n", self.text(SONDE, "script", "-i", "allocations.data", "-F", "comm,tid,event,ip,sym"))
        calls = [sample for sample in samples if "perf_bpf_probe:func:" in sample]
        self.assertGreater(len(calls), 10)
        for call in calls:
            chain = re.findall(r"^\t *[0-9a-f]+ (\S+)", call, re.M)
            self.assertEqual(chain[0].split("+")[0], "kmem_cache_alloc", call)
            self.assertGreater(len(chain), 1, call)
        self.assertIn("do_syscall_64", "".join(calls))
        text = self.text(SONDE, "script", "-i", "allocations.data", "-F", "event,bpf-output")
        # Without losses both are complete, and every call told of itself once, but for those while only one of the two events is on.
        self.assertLess(abs(len(re.findall(r"Raise a BPF even", text)) - len(calls)), len(calls) / 10)

    def test_an_unknown_function_is_said(self):
        (self.path / "wrong.c").write_text(PROGRAM.replace("half=ksys_write", "half=nosuch_function"))
        done = self.run_tool(SONDE, "stat", "-e", "./wrong.c", "--", "true", status=129)
        self.assertIn("has no function 'nosuch_function'", done.stderr)
