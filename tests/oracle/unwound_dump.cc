// For live_unwind_oracle.py and others: `unwound_dump IN OUT [SYMFS]` rewrites a recording with
// copied stacks as its recorder would have written it if it had unwound them. SYMFS: see --symfs.
#include <fmt/format.h>

#include "perfdata/read/recording.h"
#include "perfdata/write/writer.h"
#include "replay/frames/live_unwinder.h"
#include "symbol/dso_symbols.h"

namespace {

class ToFile final : public sonde::RecordTransform::Output {
 public:
  explicit ToFile(sonde::RecordStream& stream) : stream_(stream) {}
  sonde::Result<> write_ring(sonde::Bytes records) override { return stream_.write(records); }
  sonde::Result<> write(sonde::Bytes records) override { return stream_.write(records); }
  void release(std::vector<std::byte>) override {}

 private:
  sonde::RecordStream& stream_;
};

sonde::Result<> rewrite(const std::string& from, const std::string& to, const std::string& symfs) {
  sonde::LossLedger losses;
  sonde::Recording recording = TRY(sonde::Recording::open(from, {}, losses));
  sonde::PerfDataWriter writer = TRY(sonde::PerfDataWriter::create(to, {}));
  TRY(writer.begin(recording.events().all(), recording.features()));
  sonde::FinderOptions files;
  files.symfs = symfs;
  sonde::LiveUnwinder unwinder(
      {.arch = sonde::abi::arch_from_machine(recording.features().arch.value_or("")),
       .files = files});
  unwinder.begin(recording.events().all());
  ToFile output(writer.main());
  for (const sonde::RecordBlock& block : recording.blocks())
    TRY(unwinder.take({block.bytes.begin(), block.bytes.end()}, false, output));
  TRY(unwinder.finish(output));
  TRY(writer.finish(recording.features()));
  unwinder.add_losses(losses);
  for (const sonde::LossLedger::Entry& entry : losses.entries())
    fmt::print("{} {}\n", entry.count, sonde::LossLedger::what(entry));
  return {};
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  sonde::Result<> done = rewrite(words[1], words[2], count == 4 ? words[3] : "");
  if (!done) fmt::print("{}\n", done.error().message);
  return done ? 0 : 1;
}
