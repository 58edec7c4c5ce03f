#include "perfdata/read/file_scan.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "perfdata/header/file_header.h"
#include "perfdata/read/block_splitter.h"
#include "perfdata/read/decompress.h"
#include "perfdata/read/file_opening.h"
#include "store/bundle.h"

namespace sonde {
namespace {

constexpr size_t kPage = 4096;
// Bytes of the file per call of next(): the next consumer finds them in its core's cache.
constexpr size_t kStep = size_t{512} << 10;
// Bytes mapped or unmapped at a time, as each call halts all threads.
constexpr size_t kMapped = size_t{2} << 20;

/// Advises the kernel about whole pages around `bytes`. Unknown advice does no harm.
void advise(Bytes bytes, int advice) {
  auto start = reinterpret_cast<uintptr_t>(bytes.data()) / kPage * kPage;
  auto end = reinterpret_cast<uintptr_t>(bytes.data() + bytes.size());
  if (end > start) ::madvise(reinterpret_cast<void*>(start), end - start, advice);
}

/// Recordings of the scheduler's own counters need no event: only their first record shows that
/// they are not recordings that lost their events.
EventDesc no_event() {
  EventDesc none;
  none.attr.type = abi::kTypeSoftware;
  none.attr.config = abi::kSwDummy;
  none.name = "dummy";
  return none;
}
bool begins_with_counters(Bytes records, ByteOrder order) {
  return records.size() >= sizeof(abi::RecordHeader) &&
         load<uint32_t>(records.data(), order) == abi::kRecordSchedstatCpu;
}

}  // namespace

struct FileScan::State {
  State(LossLedger& ledger, const OpenOptions& options)
      : losses(ledger), setup(events, features, ledger), expander(options.spool_limit_bytes) {}

  Result<bool> open_file(const std::string& path, bool force);
  std::span<const RecordBlock> walk_on();
  void remember_expanded();
  bool populate_more();
  void forget_more();
  void forget(size_t begin, size_t end) const;
  void forget_passed() const;
  void end(BlockSplitter::Stop stop);

  LossLedger& losses;
  FileFacts facts;
  EventTable events;
  Features features;
  SetupCollector setup;
  MappedFile file;
  FileData data;
  std::optional<BlockSplitter> splitter;
  StreamExpander expander;
  std::vector<RecordBlock> blocks;
  struct Expanded {
    Bytes bytes;
    uint64_t file_offset;
  };
  std::mutex expanded_mutex;
  std::vector<Expanded> expanded;  // all blocks so far that were compressed
  size_t position = 0;             // in the records
  size_t kept_behind = 0;
  bool is_tended = false;  // by other threads
  // Positions in the records up to which:
  std::atomic<size_t> scanned = 0;    // the scan has come (position, for other threads)
  std::atomic<size_t> populated = 0;  // somebody has populated them
  std::atomic<size_t> passed = 0;     // nobody works on them any more
  std::atomic<size_t> forgotten = 0;  // somebody has unmapped them
  size_t step = kStep;
  bool at_end = false;

  std::optional<Recording> opened;  // if it is no plain file
  const Recording* whole = nullptr;
};

/// Returns false if it is no plain file.
Result<bool> FileScan::State::open_file(const std::string& path, bool force) {
  if (path == "-") return false;
  OpenedFile found = TRY(open_recording_file(path, force));
  if (!S_ISREG(found.status.st_mode)) return false;
  file = TRY(MappedFile::map(found.fd.get(), path));
  if (file.size() == 0 || Bundle::looks_like_one(file.bytes())) return false;
  FileHeader header = TRY(parse_file_header(file.bytes(), path));
  if (header.is_pipe) return false;
  facts.path = path;
  facts.order = header.order;
  facts.header_version = header.version;
  data = read_around_records(header, file.bytes(), events, setup, facts, losses);
  if (events.size() == 0 &&
      begins_with_counters(file.bytes().subspan(data.begin, data.size), facts.order))
    events.add(no_event());
  if (events.size() == 0)
    return fail(ErrorCode::kCorrupt, "{}: the recording does not say which events it holds", path);
  setup.finalize();
  splitter.emplace(facts.order, setup, losses);
  return true;
}

std::span<const RecordBlock> FileScan::State::walk_on() {
  blocks.clear();
  Bytes records = file.bytes().subspan(data.begin, data.size);
  while (blocks.empty() && !at_end) {
    Bytes left = records.subspan(position);
    Bytes part = left.first(std::min(step, left.size()));
    while (position + part.size() > populated && populate_more()) continue;
    BlockSplitter::Outcome outcome =
        splitter->split(part, data.begin + position, 0, expander, blocks);
    position += outcome.consumed;
    remember_expanded();
    bool is_last = part.size() == left.size();
    // What looks like a non-record at the end of a part may be a record that continues after it.
    bool is_garbage = outcome.stop == BlockSplitter::Stop::kNotARecord && outcome.consumed == 0;
    if (is_last || is_garbage)
      end(outcome.stop);
    else if (outcome.consumed == 0)
      step *= 2;  // a record followed by much data
    else
      step = kStep;
  }
  return blocks;
}

void FileScan::State::remember_expanded() {
  if (std::ranges::none_of(blocks, &RecordBlock::expanded)) return;
  std::lock_guard lock(expanded_mutex);
  for (const RecordBlock& block : blocks)
    if (block.expanded) expanded.push_back({block.bytes, block.file_offset});
}

void FileScan::State::end(BlockSplitter::Stop stop) {
  at_end = true;
  add_stream_end({.stop = stop,
                  .consumed = position,
                  .rest = file.bytes().subspan(data.begin + position, data.size - position),
                  .file_offset = data.begin + position,
                  .missing = data.missing,
                  .is_complete = data.is_complete},
                 expander, facts.order, losses);
  add_unknown_records(splitter->counts(), losses);
}

/// Returns false if there is nothing more.
bool FileScan::State::populate_more() {
  size_t begin = populated;
  if (begin >= data.size) return false;
  size_t end = std::min(begin + kMapped, data.size);
  if (populated.compare_exchange_strong(begin, end))
    advise(file.bytes().subspan(data.begin + begin, end - begin), MADV_POPULATE_READ);
  return true;
}

void FileScan::State::forget_more() {
  constexpr size_t kForgotAlone = 2 * kMapped;  // after so much, drop pages that came back, too
  size_t begin = forgotten, end = passed;
  if (end < begin + kMapped || !forgotten.compare_exchange_strong(begin, end)) return;
  if (begin / kForgotAlone != end / kForgotAlone)
    forget_passed();
  else
    forget(begin, end);
}

void FileScan::State::forget(size_t begin, size_t end) const {
  end = end / kPage * kPage;
  if (end > begin) advise(file.bytes().subspan(data.begin + begin, end - begin), MADV_DONTNEED);
}

/// Starts a while back, as somebody may have accessed records that were passed.
void FileScan::State::forget_passed() const {
  constexpr size_t kAgain = size_t{64} << 20;
  size_t end = passed;
  forget(end > kAgain ? end - kAgain : 0, end);
}

Result<FileScan> FileScan::open(const std::string& path, const OpenOptions& options,
                                LossLedger& losses) {
  auto state = std::make_unique<State>(losses, options);
  if (!TRY(state->open_file(path, options.force))) {
    state->opened.emplace(TRY(Recording::open(path, options, losses)));
    state->whole = &*state->opened;
  }
  return FileScan(std::move(state));
}

FileScan::FileScan(const Recording& recording, LossLedger& losses)
    : state_(std::make_unique<State>(losses, OpenOptions{})) {
  state_->whole = &recording;
}
FileScan::FileScan(std::unique_ptr<State> state) : state_(std::move(state)) {}
FileScan::FileScan(FileScan&&) noexcept = default;
FileScan::~FileScan() = default;

const FileFacts& FileScan::facts() const {
  return state_->whole != nullptr ? state_->whole->facts() : state_->facts;
}
const EventTable& FileScan::events() const {
  return state_->whole != nullptr ? state_->whole->events() : state_->events;
}
const Features& FileScan::features() const {
  return state_->whole != nullptr ? state_->whole->features() : state_->features;
}

std::span<const RecordBlock> FileScan::next() {
  State& state = *state_;
  if (state.whole != nullptr) {
    if (std::exchange(state.at_end, true)) return {};
    return state.whole->blocks();
  }
  state.scanned = state.position;
  state.passed = state.position > state.kept_behind ? state.position - state.kept_behind : 0;
  if (!state.is_tended) state.forget_more();
  return state.walk_on();
}

uint64_t FileScan::file_offset_of(const std::byte* record) const {
  auto offset_in = [&](Bytes bytes) -> std::optional<uint64_t> {
    auto at = reinterpret_cast<uintptr_t>(record) - reinterpret_cast<uintptr_t>(bytes.data());
    return at < bytes.size() ? std::optional<uint64_t>(at) : std::nullopt;
  };
  if (state_->whole != nullptr) {
    for (const RecordBlock& block : state_->whole->blocks())
      if (auto at = offset_in(block.bytes)) return block.file_offset + (block.expanded ? 0 : *at);
    return 0;
  }
  if (auto at = offset_in(state_->file.bytes())) return *at;
  std::lock_guard lock(state_->expanded_mutex);
  for (const State::Expanded& block : state_->expanded)
    if (offset_in(block.bytes)) return block.file_offset;
  return 0;
}

void FileScan::share_work(size_t kept_behind) {
  state_->kept_behind = kept_behind;
  state_->is_tended = true;
}

void FileScan::tend() {
  constexpr size_t kAhead = 2 * kMapped;
  State& state = *state_;
  if (state.whole != nullptr) return;
  if (state.populated < state.scanned + kAhead) state.populate_more();
  state.forget_more();
}

void FileScan::forget_all() const {
  if (state_->whole == nullptr) state_->forget(0, state_->data.size);
}

void FileScan::forget_passed() const {
  if (state_->whole == nullptr) state_->forget_passed();
}

}  // namespace sonde
