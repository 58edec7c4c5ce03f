#include "itrace/bts_samples.h"

#include <cstring>

#include "perfdata/records/trace_flags.h"

namespace sonde::itrace {
namespace {

constexpr size_t kRecordSize = 24;

uint64_t word_at(Bytes bytes, size_t offset) {
  return load<uint64_t>(bytes.data() + offset, ByteOrder::kLittle);
}

}  // namespace

void BtsSamples::follow(const std::vector<TracePiece>& pieces) {
  std::vector<std::byte> cut;  // the beginning of a record
  uint64_t end = 0;
  for (const TracePiece& piece : pieces) {
    Bytes rest = piece.bytes;
    if (piece.offset != end) cut.clear();
    end = piece.offset + rest.size();
    if (!cut.empty()) {
      size_t missing = std::min(kRecordSize - cut.size(), rest.size());
      cut.insert(cut.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(missing));
      rest = rest.subspan(missing);
      if (cut.size() < kRecordSize) continue;
      take(word_at(cut, 0), word_at(cut, 8), piece.reference);
      cut.clear();
    }
    for (; rest.size() >= kRecordSize; rest = rest.subspan(kRecordSize))
      take(word_at(rest, 0), word_at(rest, 8), piece.reference);
    cut.assign(rest.begin(), rest.end());
  }
}

uint32_t BtsSamples::flags_at(uint64_t from, uint64_t tsc, uint8_t& length) {
  if (uint64_t version = code_.version(tsc); version != code_version_) {
    table_.clear();
    code_version_ = version;
  }
  std::byte probe;
  if (code_.read(from, {&probe, 1}, tsc) == 0) {
    uint64_t time = clock_.to_ns(tsc);
    // Recordings of threads have no times, as in perf.
    samples_.put_error(pt::FlowError::kNoInstruction, from, 0, tasks_.task_at(time), cpu_);
    return 0;
  }
  pt::Instruction instruction = table_.at(from, true, tsc);
  length = instruction.size;
  return flags_of(instruction);
}

void BtsSamples::take(uint64_t from, uint64_t to, uint64_t tsc) {
  if (from == 0 && to == 0) return;
  TakenBranch branch{from, to, 0, 0};
  if (from == 0)
    branch.flags = kTraceBranch | kTraceBegin;
  else if (to == 0)
    branch.flags = kTraceBranch | kTraceEnd;
  else
    branch.flags = flags_at(from, tsc, branch.length);
  samples_.taken(branch, tsc);
}

}  // namespace sonde::itrace
