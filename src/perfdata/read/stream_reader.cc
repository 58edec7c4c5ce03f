#include "perfdata/read/stream_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>

#include <fmt/format.h>

#include "perfdata/header/file_header.h"
#include "perfdata/header/file_layout.h"
#include "perfdata/read/block_splitter.h"
#include "perfdata/read/spool.h"

namespace sonde {
namespace {

constexpr size_t kReadSize = size_t{1} << 20;
constexpr size_t kMinRoom = size_t{64} << 10;

}  // namespace

struct StreamReader::State {
  State(int descriptor, std::string label, const OpenOptions& open_options, LossLedger& ledger)
      : fd(descriptor),
        name(std::move(label)),
        options(open_options),
        losses(ledger),
        setup(events, features, ledger),
        expander(open_options.spool_limit_bytes) {}

  Result<> read_header();
  Result<> read_whole_file();
  Result<bool> read_more();
  [[nodiscard]] bool may_wait();
  Result<> make_room(size_t least);
  Result<> keep_chunks();
  Result<bool> cut_blocks();
  void count_rest();

  [[nodiscard]] Bytes unread() { return {chunks.back().data() + begin, filled - begin}; }

  int fd;
  std::string name;
  OpenOptions options;
  LossLedger& losses;
  FileFacts facts;
  EventTable events;
  Features features;
  SetupCollector setup;
  StreamExpander expander;
  std::optional<BlockSplitter> splitter;
  BlockSplitter::Stop stop = BlockSplitter::Stop::kEnd;
  std::deque<SpoolMemory> chunks;  // the last one is being filled
  uint64_t first_chunk = 0;        // index of chunks.front() since the start
  std::vector<SpoolMemory> kept;   // features have views of them
  size_t begin = 0, filled = 0;    // in the last chunk: start of uncut bytes, of free space
  uint64_t held_bytes = 0;
  uint64_t offset = 0;  // of `begin` in the stream
  std::function<bool()> wait;
  bool ended = false;
  bool stopped = false;  // by `wait`: what was not read is no loss
  std::vector<RecordBlock> blocks;
  // A piped file, read as a whole.
  SpoolMemory file_memory;
  std::optional<Recording> file;
};

/// Starts a new chunk if the last one has too little room; the uncut bytes are moved into it.
Result<> StreamReader::State::make_room(size_t least) {
  size_t left = filled - begin;
  if (!chunks.empty() && chunks.back().capacity() - filled >= least) return {};
  size_t size = std::max(kReadSize, 2 * left);
  SpoolMemory chunk =
      TRY(SpoolMemory::allocate(size, held_bytes + size > options.spool_limit_bytes));
  held_bytes += size;
  if (left > 0) std::memcpy(chunk.data(), chunks.back().data() + begin, left);
  chunks.push_back(std::move(chunk));
  begin = 0;
  filled = left;
  return {};
}

/// Whether reading may continue; asked before a read that would block.
bool StreamReader::State::may_wait() {
  if (!wait) return true;
  pollfd input{fd, POLLIN, 0};
  if (::poll(&input, 1, 0) == 0) stopped = !wait();
  return !stopped;
}

/// Returns false at the end of the input.
Result<bool> StreamReader::State::read_more() {
  if (!may_wait()) return false;
  TRY(make_room(kMinRoom));
  SpoolMemory& chunk = chunks.back();
  while (true) {
    ssize_t got = ::read(fd, chunk.data() + filled, chunk.capacity() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(ErrorCode::kIo, "failed to read {}: {}", name, std::strerror(errno));
    filled += static_cast<size_t>(got);
    return got > 0;
  }
}

Result<> StreamReader::State::read_header() {
  bool more = true;
  while (more && filled < kPipeHeaderSize) more = TRY(read_more());
  if (filled == 0) return fail(ErrorCode::kCorrupt, "zero-sized data ({}), nothing to do!", name);
  if (filled >= kPipeHeaderSize) {
    auto pipe = parse_file_header(unread().first(kPipeHeaderSize), name);
    if (!pipe) return read_whole_file();  // a file, or an unknown format
    facts.path = name;
    facts.is_pipe = true;
    facts.order = pipe->order;
    facts.header_version = pipe->version;
    facts.data_offset = offset = pipe->size;
    begin = kPipeHeaderSize;
    setup.set_pipe(true);
    splitter.emplace(facts.order, setup, losses);
    return {};
  }
  return read_whole_file();
}

Result<> StreamReader::State::read_whole_file() {
  Bytes first = unread();
  file_memory = TRY(SpoolMemory::read_to_end(fd, name, options.spool_limit_bytes, first));
  file = TRY(Recording::open_bytes(file_memory.bytes(), name, losses));
  chunks.clear();
  return {};
}

/// Features may have views of what was read so far, so it is kept for good.
Result<> StreamReader::State::keep_chunks() {
  TRY(make_room(SIZE_MAX));
  for (; chunks.size() > 1; ++first_chunk) {
    kept.push_back(std::move(chunks.front()));
    chunks.pop_front();
  }
  return {};
}

/// Whether there are new blocks.
Result<bool> StreamReader::State::cut_blocks() {
  blocks.clear();
  BlockSplitter::Outcome outcome = splitter->split(unread(), offset, 0, expander, blocks);
  begin += outcome.consumed;
  offset += outcome.consumed;
  stop = outcome.stop;
  if (setup.finalize()) TRY(keep_chunks());
  return !blocks.empty();
}

void StreamReader::State::count_rest() {
  add_stream_end({.stop = stop,
                  .consumed = offset - facts.data_offset,
                  .rest = unread(),
                  .file_offset = offset},
                 expander, facts.order, losses);
  add_unknown_records(splitter->counts(), losses);
  begin = filled;
}

Result<StreamReader> StreamReader::open(int fd, const std::string& name, const OpenOptions& options,
                                        LossLedger& losses) {
  auto state = std::make_unique<State>(fd, name, options, losses);
  TRY(state->read_header());
  return StreamReader(std::move(state));
}

Result<std::span<const RecordBlock>> StreamReader::next() {
  State& s = *state_;
  if (s.file) {
    bool first = !std::exchange(s.ended, true);
    return first ? std::span<const RecordBlock>(s.file->blocks()) : std::span<const RecordBlock>();
  }
  while (!s.ended) {
    if (s.filled > s.begin && TRY(s.cut_blocks())) return s.blocks;
    // What is no record now will not become one; garbage is read to its end to be counted.
    if (s.stop == BlockSplitter::Stop::kNotARecord && s.filled - s.begin >= kReadSize / 2) break;
    if (!TRY(s.read_more())) break;
  }
  if (!std::exchange(s.ended, true) && !s.stopped) s.count_rest();
  return std::span<const RecordBlock>();
}

void StreamReader::on_pause(std::function<bool()> wait) {
  state_->wait = std::move(wait);
}

std::optional<Recording> StreamReader::take_file() {
  if (!state_->file) return std::nullopt;
  Recording file = std::move(*state_->file);
  file.keep(std::move(state_->file_memory));
  state_.reset();
  return file;
}

StreamReader::Mark StreamReader::mark() const {
  return {state_->first_chunk + state_->chunks.size(), state_->expander.mark()};
}

void StreamReader::release_before(Mark mark) {
  State& s = *state_;
  while (s.chunks.size() > 1 && s.first_chunk + 1 < mark.input) {
    s.held_bytes -= s.chunks.front().capacity();
    s.chunks.pop_front();
    ++s.first_chunk;
  }
  s.expander.release_before(mark.expanded);
}

StreamReader::StreamReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
StreamReader::StreamReader(StreamReader&&) noexcept = default;
StreamReader& StreamReader::operator=(StreamReader&&) noexcept = default;
StreamReader::~StreamReader() = default;

const FileFacts& StreamReader::facts() const {
  return state_->file ? state_->file->facts() : state_->facts;
}
const EventTable& StreamReader::events() const {
  return state_->file ? state_->file->events() : state_->events;
}
const Features& StreamReader::features() const {
  return state_->file ? state_->file->features() : state_->features;
}

}  // namespace sonde
