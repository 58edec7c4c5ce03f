#include "perfdata/read/recording.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/files/regular_file.h"
#include "base/text.h"
#include "perfdata/header/file_header.h"
#include "perfdata/read/file_opening.h"
#include "perfdata/read/parallel_scan.h"
#include "perfdata/read/spool.h"
#include "perfdata/read/stream_reader.h"
#include "perfdata/records/sideband.h"
#include "store/bundle.h"

namespace sonde {

struct Recording::State {
  explicit State(LossLedger& ledger) : losses(ledger), setup(events, features, ledger) {}

  Result<> open_path(const std::string& path, const OpenOptions& options);
  Result<> open_directory(const std::string& path, const OpenOptions& options);
  Result<> map_file(const std::string& path, const OpenOptions& options, bool is_named = true);
  Result<> read_descriptor(int fd, const std::string& name, const OpenOptions& options);
  Result<> read_main(Bytes file, const std::string& name);
  void read_file(const FileHeader& header, Bytes file);
  void read_stream(Bytes records, const FileData& data, uint32_t stream);
  void scan_in_threads(Bytes file, const FileData& data, SampleObserver* by);
  void end_stream(BlockSplitter::Outcome outcome, Bytes records, const FileData& data);
  void finish();
  uint32_t guess_word_size() const;

  LossLedger& losses;
  FileFacts facts;
  EventTable events;
  Features features;
  SetupCollector setup;
  std::vector<RecordBlock> blocks;
  RecordCounts counts;
  uint32_t word_size = 8;
  uint64_t spool_limit_bytes = OpenOptions{}.spool_limit_bytes;
  SampleObserver* observer = nullptr;
  Fd observed;  // the main file, if an observer gets its samples
  // The memory that the views point into.
  std::vector<MappedFile> files;
  std::optional<Bundle> bundle;
  std::vector<SpoolMemory> spools;
  std::vector<StreamExpander> expanders;
  bool is_live = false;
  std::optional<StreamReader> followed;  // if set, facts, events and features are its own
};

namespace {

/// The numbers N of the files data.N, ascending.
std::vector<uint32_t> stream_numbers(const std::string& directory) {
  constexpr std::string_view kPrefix = "data.";
  std::vector<uint32_t> numbers;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    std::string name = entry.path().filename();
    if (!name.starts_with(kPrefix)) continue;
    auto number = parse_number(std::string_view(name).substr(kPrefix.size()));
    if (number && *number < UINT32_MAX) numbers.push_back(static_cast<uint32_t>(*number));
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// The word size of a machine name as `uname -m` prints it; nothing for an empty name.
std::optional<uint32_t> word_size_of(std::string_view arch) {
  if (arch.empty()) return std::nullopt;
  bool wide = arch.find("64") != arch.npos || arch == "s390x" || arch == "alpha";
  return wide ? 8 : 4;
}

}  // namespace

void RecordCounts::add(const RecordCounts& other) {
  for (size_t type = 0; type < by_type.size(); ++type) by_type[type] += other.by_type[type];
  beyond += other.beyond;
  simpleperf_private += other.simpleperf_private;
}

Result<> Recording::State::open_path(const std::string& path, const OpenOptions& options) {
  facts.path = path;
  spool_limit_bytes = options.spool_limit_bytes;
  if (path == "-") return read_descriptor(options.stdin_fd, path, options);
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    return open_directory(path, options);
  return map_file(path, options);
}

Result<> Recording::State::open_directory(const std::string& path, const OpenOptions& options) {
  facts.is_directory = true;
  TRY(map_file(path + "/data", options, false));
  std::string symbols = path + "/kcore_dir/kallsyms";
  if (open_regular(symbols)) facts.kernel_symbols = std::move(symbols);
  for (uint32_t number : stream_numbers(path)) {
    files.push_back(TRY(MappedFile::open(fmt::format("{}/data.{}", path, number))));
    read_stream(files.back().bytes(), {}, number + 1);
  }
  return {};
}

Result<> Recording::State::map_file(const std::string& path, const OpenOptions& options,
                                    bool is_named) {
  OpenedFile opened = TRY(open_recording_file(path, options.force, is_named));
  const struct stat& status = opened.status;
  facts.modified_ns = status.st_mtim.tv_sec * int64_t{1'000'000'000} + status.st_mtim.tv_nsec;
  if (!S_ISREG(status.st_mode)) return read_descriptor(opened.fd.get(), path, options);
  files.push_back(TRY(MappedFile::map(opened.fd.get(), path)));
  if (options.observer != nullptr) {
    observer = options.observer;
    observed = std::move(opened.fd);
  }
  auto read = read_main(files.back().bytes(), path);
  observed.reset();
  observer = nullptr;  // its lifetime may be shorter than this object's
  return read;
}

Result<> Recording::State::read_descriptor(int fd, const std::string& name,
                                           const OpenOptions& options) {
  spools.push_back(TRY(SpoolMemory::read_to_end(fd, name, options.spool_limit_bytes)));
  return read_main(spools.back().bytes(), name);
}

/// The content decides what it is: a pipe's output may be stored in a file, and a file may be
/// piped.
Result<> Recording::State::read_main(Bytes file, const std::string& name) {
  if (file.empty()) return fail(ErrorCode::kCorrupt, "zero-sized data ({}), nothing to do!", name);
  if (!bundle && Bundle::looks_like_one(file)) {
    bundle.emplace(TRY(Bundle::view(file, name)));
    facts.is_bundle = true;
    files.push_back(TRY(bundle->recording()));
    return read_main(files.back().bytes(), name);
  }
  FileHeader header = TRY(parse_file_header(file, name));
  facts.order = header.order;
  facts.header_version = header.version;
  facts.is_pipe = header.is_pipe;
  setup.set_pipe(header.is_pipe);
  if (header.is_pipe) {
    facts.data_offset = header.size;
    facts.data_size = file.size() - header.size;
    read_stream(file.subspan(header.size), {.begin = header.size}, 0);
  } else {
    read_file(header, file);
  }
  if (events.size() == 0)
    return fail(ErrorCode::kCorrupt, "{}: the recording does not say which events it holds", name);
  return {};
}

void Recording::State::read_file(const FileHeader& header, Bytes file) {
  FileData data = read_around_records(header, file, events, setup, facts, losses);
  bool is_observed = observed.valid() && !bundle && observer->begin(events);
  scan_in_threads(file, data, is_observed ? observer : nullptr);
}

void Recording::State::read_stream(Bytes records, const FileData& data, uint32_t stream) {
  expanders.emplace_back(spool_limit_bytes);
  BlockSplitter splitter(facts.order, setup, losses);
  BlockSplitter::Outcome outcome =
      splitter.split(records, data.begin, stream, expanders.back(), blocks);
  counts.add(splitter.counts());
  end_stream(outcome, records, data);
}

void Recording::State::scan_in_threads(Bytes file, const FileData& data, SampleObserver* by) {
  expanders.emplace_back(spool_limit_bytes);
  ParallelScanResult scan = scan_in_parallel({observed.get(), file, data}, facts.order, events,
                                             setup, expanders.back(), by, losses);
  blocks = std::move(scan.blocks);
  counts.add(scan.counts);
  end_stream(scan.outcome, file.subspan(data.begin, data.size), data);
}

void Recording::State::end_stream(BlockSplitter::Outcome outcome, Bytes records,
                                  const FileData& data) {
  add_stream_end({.stop = outcome.stop,
                  .consumed = outcome.consumed,
                  .rest = records.subspan(outcome.consumed),
                  .file_offset = data.begin + outcome.consumed,
                  .missing = data.missing,
                  .is_complete = data.is_complete},
                 expanders.back(), facts.order, losses);
}

void Recording::State::finish() {
  setup.finalize();
  add_unknown_records(counts, losses);
  word_size = guess_word_size();
}

/// On a 64-bit machine the kernel, and most programs, are above 4 GiB.
uint32_t Recording::State::guess_word_size() const {
  if (auto size = word_size_of(features.arch.value_or(""))) return *size;
  constexpr uint64_t kBeyondNarrow = uint64_t{1} << 32;
  bool any = false;
  for (const RecordBlock& block : blocks) {
    if (!block.may_hold(abi::kRecordMmap) && !block.may_hold(abi::kRecordMmap2)) continue;
    RecordView record;
    for (RecordRange range(block, facts.order); range.next(record);) {
      if (record.type != abi::kRecordMmap && record.type != abi::kRecordMmap2) continue;
      auto mmap = decode_as<MmapRecord>(record, events.all().front().layout);
      if (!mmap) continue;
      any = true;
      if (mmap->start.value >= kBeyondNarrow) return 8;
    }
  }
  return any ? 4 : 8;
}

std::string default_recording(int stdin_fd) {
  struct stat status{};
  bool is_pipe = ::fstat(stdin_fd, &status) == 0 && S_ISFIFO(status.st_mode);
  return is_pipe ? "-" : "perf.data";
}

Result<Recording> Recording::open(const std::string& path, const OpenOptions& options,
                                  LossLedger& losses) {
  auto state = std::make_unique<State>(losses);
  TRY(state->open_path(path, options));
  state->finish();
  return Recording(std::move(state));
}

Result<Recording> Recording::open_bytes(Bytes bytes, const std::string& name, LossLedger& losses) {
  auto state = std::make_unique<State>(losses);
  state->facts.path = name;
  TRY(state->read_main(bytes, name));
  state->finish();
  return Recording(std::move(state));
}

Result<Recording> Recording::open_stream(int fd, const std::string& name,
                                         const OpenOptions& options, LossLedger& losses) {
  StreamReader stream = TRY(StreamReader::open(fd, name, options, losses));
  if (auto file = stream.take_file()) return std::move(*file);
  auto state = std::make_unique<State>(losses);
  state->followed = std::move(stream);
  return Recording(std::move(state));
}

Recording Recording::live(std::vector<EventDesc> events, const Features& features,
                          LossLedger& losses) {
  auto state = std::make_unique<State>(losses);
  state->is_live = true;
  state->facts.path = "live";
  state->facts.is_pipe = true;
  state->features = features;
  for (EventDesc& event : events) state->events.add(std::move(event));
  state->finish();
  return Recording(std::move(state));
}

Recording::Recording(std::unique_ptr<State> state) : state_(std::move(state)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

const FileFacts& Recording::facts() const {
  return state_->followed ? state_->followed->facts() : state_->facts;
}
const EventTable& Recording::events() const {
  return state_->followed ? state_->followed->events() : state_->events;
}
EventTable& Recording::edit_events() {
  return state_->events;
}
const Features& Recording::features() const {
  return state_->followed ? state_->followed->features() : state_->features;
}
uint32_t Recording::word_size() const {
  if (state_->followed) return word_size_of(features().arch.value_or("")).value_or(8);
  return state_->word_size;
}
const Bundle* Recording::bundle() const {
  return state_->bundle ? &*state_->bundle : nullptr;
}

const std::vector<RecordBlock>& Recording::blocks() const {
  return state_->blocks;
}
const RecordCounts& Recording::record_counts() const {
  return state_->counts;
}
void Recording::release_pages() const {
  for (const MappedFile& file : state_->files) file.release_pages();
}

void Recording::release_pages(std::span<const RecordBlock> blocks) const {
  for (size_t i = 0; i < blocks.size();) {
    const std::byte* start = blocks[i].bytes.data();
    const std::byte* end = start;
    // In a file they follow each other, unless data follows a record.
    for (; i < blocks.size() && blocks[i].bytes.data() == end; ++i) end += blocks[i].bytes.size();
    for (const MappedFile& file : state_->files) file.release_pages({start, end});
  }
}

StreamReader* Recording::stream() {
  return state_->followed ? &*state_->followed : nullptr;
}
bool Recording::goes_on() const {
  return state_->followed || state_->is_live;
}
void Recording::show(std::vector<RecordBlock> blocks) {
  state_->blocks = std::move(blocks);
}
void Recording::keep(SpoolMemory memory) {
  state_->spools.push_back(std::move(memory));
}

}  // namespace sonde
