#include "script/dump_tail.h"

#include <algorithm>

#include "replay/fields/guest_samples.h"
#include "script/frame_texts.h"

namespace sonde {
namespace {

void put_lines(const Session& session, StringId comm, uint32_t tid, const Frame& leaf, Sink& out) {
  std::string_view object = "<not found>";
  if (leaf.dso.valid())
    object = dso_text(session, leaf.dso, true);
  else if (leaf.level == FrameLevel::kHypervisor)
    object = "[hypervisor]";
  out.print(" ... thread: {}:{}\n ...... dso: {}\n", session.strings().view(comm),
            static_cast<int32_t>(recorded_task(tid)), object);
}

}  // namespace

SampleTails::SampleTails(const Session& session, std::span<const uint32_t> cpus, AfterRow after)
    : session_(session), cpus_(cpus.begin(), cpus.end()), after_(std::move(after)) {
  for (uint32_t row = 0; row < session.samples().size(); ++row)
    rows_[session.record(row).payload.data()].push_back(row);
}

void SampleTails::put(const TimedRecord& record, const Sample* sample, Sink& out) const {
  if (sample == nullptr) return;
  if (auto found = rows_.find(record.record.payload.data()); found != rows_.end()) {
    for (uint32_t row : found->second) put_row(row, out);
    return;
  }
  bool counts = sample->read.present && sample->read.count > 0;  // none of which has grown
  bool elsewhere = !cpus_.empty() && std::ranges::find(cpus_, sample->id.cpu) == cpus_.end();
  if (!counts && !elsewhere) put_unlisted(*sample, out);
}

void SampleTails::put_row(uint32_t row, Sink& out) const {
  const SampleColumns& columns = session_.samples();
  put_lines(session_, columns.comm[row], columns.tid[row], session_.frame(columns.leaf[row]), out);
  if (after_) after_(row, out);
}

/// A sample that the session was told to leave out.
void SampleTails::put_unlisted(const Sample& sample, Sink& out) const {
  uint64_t time = sample.id.has_time() ? sample.id.time : UINT64_MAX;
  SampleId who = sample.id;
  GuestSamples(session_.events(), session_.machine()).set_task(sample.cpu_mode, time, who);
  StringId comm = session_.machine().comm_at(who.tid, time);
  Frame leaf = session_.resolve(who.pid, time, RuntimeAddr(sample.ip), sample.cpu_mode);
  put_lines(session_, comm, who.tid, leaf, out);
}

void dump_session(const Session& session, std::span<const uint32_t> cpus, LossLedger& losses,
                  Sink& out) {
  SampleTails tails(session, cpus);
  auto tail = [&](const TimedRecord& record, const Sample* sample, Sink& to) {
    tails.put(record, sample, to);
  };
  dump_recording(session.recording(), {.command = DumpFor::kReport}, tail, losses, out);
}

}  // namespace sonde
