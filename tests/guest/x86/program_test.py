"""BPF programs as events at kernel functions: on Debian's kernel, which has kprobes."""
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

    def test_an_unknown_function_is_said(self):
        (self.path / "wrong.c").write_text(PROGRAM.replace("half=ksys_write", "half=nosuch_function"))
        done = self.run_tool(SONDE, "stat", "-e", "./wrong.c", "--", "true", status=129)
        self.assertIn("cannot make a probe in nosuch_function", done.stderr)
