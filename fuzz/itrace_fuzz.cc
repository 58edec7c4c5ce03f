// Arbitrary bytes as a recording with an instruction trace, decoded as `script` and `report` do:
// what describes the trace, its pieces by CPU and thread, in samples, of snapshots, with losses and
// context switches; PT, BTS, ETM and SPE. All samples that are made can be read again. The first
// byte chooses the options. Code is that of "/proc/self/fd/900".
#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/check.h"
#include "elf/elf_builder.h"
#include "fuzz/fuzz_target.h"
#include "itrace/decode.h"
#include "replay/passes/sideband_pass.h"
#include "store/expand.h"

namespace {

using namespace sonde;

constexpr int kCodeFile = 900;

/// A call, branches, a loop, a system call and returns.
const std::string kTracedCode(
    "\xe8\x0b\0\0\0\xeb\xfe\x0f\x05\0\0\0\0\0\0\0\x75\x02\x90\x90\xc3\xe2\xfe\xff\xe0\xff\xd0\xc3",
    28);

/// Keeps the traced object open under its number.
struct TracedObject {
  TracedObject() {
    ElfBuilder elf;
    std::string code = kTracedCode;
    while (code.size() < 4096) code += kTracedCode;
    elf.load(elf.section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code), true);
    std::vector<std::byte> bytes = elf.build();
    auto file = memory_file("app");
    CHECK(file && write_all(file->get(), "app", bytes));
    CHECK(::dup3(file->get(), kCodeFile, O_CLOEXEC) == kCodeFile);
  }
};

constexpr std::array<std::string_view, 12> kOptions = {
    "", "be", "cr", "i1i", "i0nsg16l8", "xwpeI", "oMfmta", "qe", "qqi", "GLi10us", "bAe", "Zi3i"};

void read_all_of(const Recording& recording, size_t first_block) {
  for (size_t i = first_block; i < recording.blocks().size(); ++i) {
    RecordRange range(recording.blocks()[i], recording.byte_order());
    for (RecordView record; range.next(record);) {
      EventId event = recording.events().of(record);
      if (record.type != abi::kRecordSample) continue;
      CHECK(event.valid());
      Sample sample;
      CHECK(decode_sample(record, recording.events()[event].layout, sample));
    }
  }
}

}  // namespace

FUZZ_TARGET(itrace)(const uint8_t* data, size_t size) {
  // A byte of trace may stand for thousands of instructions.
  constexpr size_t kMaxBytes = 16384;
  if (size == 0 || size > kMaxBytes) return 0;
  static const TracedObject object;
  LossLedger losses;
  auto recording = Recording::open_bytes({reinterpret_cast<const std::byte*>(data) + 1, size - 1},
                                         "fuzz", losses);
  if (!recording || !itrace::has_traces(*recording)) return 0;
  auto options = parse_itrace(kOptions[data[0] % kOptions.size()],
                              data[0] < 128 ? ItraceDefaults::kReport : ItraceDefaults::kScript);
  CHECK(options);
  StringPool strings;
  Machine machine(strings);
  (void)read_sideband(*recording, machine, losses);
  machine.freeze();
  FinderOptions where;
  where.debug_root = where.proc = "/nonexistent";
  ObjectFinder finder(where);
  StringSink log;
  size_t before = recording->blocks().size();
  auto made = itrace::add_trace_samples(*recording, machine, {finder}, *options,
                                        itrace::LogSetup(log), losses);
  if (!made) {
    CHECK(!made.error().message.empty());
    return 0;
  }
  read_all_of(*recording, before);
  return 0;
}
