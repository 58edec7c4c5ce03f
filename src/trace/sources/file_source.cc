#include "trace/sources/file_source.h"

#include <algorithm>
#include <vector>

#include "abi/regs.h"
#include "perfdata/read/ordering.h"
#include "replay/fields/trace_formats.h"
#include "trace/sources/record_items.h"

namespace sonde {
namespace {

/// The table that the recorded machine's numbers belong to.
SyscallAbi abi_of(const Recording& recording) {
  const std::string arch = recording.features().arch.value_or("");
  if (arch == "aarch64") return SyscallAbi::kArm64;
  if (arch.starts_with("arm")) return SyscallAbi::kArm;
  if (arch.size() == 4 && arch[0] == 'i' && arch.ends_with("86")) return SyscallAbi::kI386;
  return SyscallAbi::kX86_64;
}

}  // namespace

struct FileSource::State {
  State(const Recording& read, LossLedger& ledger)
      : recording(read),
        losses(ledger),
        formats(read),
        abi(abi_of(read)),
        sorter([this](std::span<const TimedRecord> batch) { take(batch); }, ledger),
        items(
            read.events(), [this](EventId id) { return formats.of(id); }, abi,
            [this](EventId id) { return is_call(id); }) {
    for (const RecordBlock& block : recording.blocks()) several_streams |= block.stream != 0;
  }

  [[nodiscard]] bool is_call(EventId id) const {
    return formats.of(id)->system() == "raw_syscalls" || !has_raw();
  }
  [[nodiscard]] bool has_raw() const {
    for (size_t i = 0; i < recording.events().size(); ++i) {
      const TracepointFormat* format = formats.of(EventId(i));
      if (format != nullptr && format->system() == "raw_syscalls") return true;
    }
    return false;
  }

  void take(std::span<const TimedRecord> batch) {
    ready.insert(ready.end(), batch.begin(), batch.end());
  }

  /// The streams of a directory follow each other: their order is known once all have been read.
  void read_block() {
    RecordRange range(recording.blocks()[next_block++], recording.byte_order());
    for (RecordView record; range.next(record);) {
      if (record.type == abi::kRecordFinishedRound) {
        if (!several_streams) sorter.finish_round();
      } else if (record.type < abi::kRecordUserStart) {
        sorter.push(with_time(record, recording.events()));
      }
    }
    if (next_block == recording.blocks().size()) sorter.flush();
  }

  /// Finds the oldest record that makes an item.
  bool find_front() {
    while (!has_front && position < ready.size()) {
      has_front = items.make(ready[position], front, losses);
      if (!has_front) ++position;
    }
    return has_front;
  }

  const Recording& recording;
  LossLedger& losses;
  TraceFormats formats;
  SyscallAbi abi;
  RoundSorter sorter;
  RecordItems items;
  std::vector<TimedRecord> ready;  // in order; handed out up to `position`
  size_t position = 0;
  size_t next_block = 0;
  TraceItem front;
  bool has_front = false;
  bool several_streams = false;
};

FileSource::FileSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileSource::~FileSource() = default;

Result<std::unique_ptr<FileSource>> FileSource::open(const Recording& recording,
                                                     LossLedger& losses) {
  return std::unique_ptr<FileSource>(new FileSource(std::make_unique<State>(recording, losses)));
}

const std::vector<TracedEvent>& FileSource::events() const {
  return state_->items.events();
}

Result<> FileSource::refill(bool) {
  State& state = *state_;
  if (state.position < state.ready.size()) return {};
  state.ready.clear();
  state.position = 0;
  while (state.ready.empty() && state.next_block < state.recording.blocks().size())
    state.read_block();
  return {};
}

const TraceItem* FileSource::front() {
  return state_->find_front() ? &state_->front : nullptr;
}

void FileSource::pop() {
  state_->has_front = false;
  ++state_->position;
}

uint64_t FileSource::safe_until_ns() const {
  if (at_end()) return UINT64_MAX;
  return state_->position < state_->ready.size() ? state_->ready[state_->position].time : 0;
}

bool FileSource::at_end() const {
  return state_->next_block == state_->recording.blocks().size() &&
         state_->position >= state_->ready.size();
}

SyscallAbi FileSource::abi() const {
  return state_->abi;
}

bool FileSource::has_calls() const {
  return std::ranges::any_of(events(), [](const TracedEvent& event) {
    return event.format != nullptr &&
           (event.format->system() == "raw_syscalls" || event.format->system() == "syscalls");
  });
}

}  // namespace sonde
