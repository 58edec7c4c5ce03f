#include "lock/futex_stats.h"

#include <algorithm>

#include "base/text.h"

namespace sonde {

FutexStats::FutexStats(Options options, const Session& session)
    : options_(std::move(options)),
      session_(session),
      variables_(session.machine(), session.symbolizer()) {}

std::span<const FrameId> FutexStats::chain_of(const FutexWait& wait) const {
  ChainId chain = session_.samples().chain_of(wait.sample);
  std::span<const FrameId> frames;
  if (chain.valid()) frames = session_.chains()[chain];
  // The kernel part adds nothing to the call.
  auto user = std::ranges::find_if(
      frames, [this](FrameId id) { return session_.frame(id).level == FrameLevel::kUser; });
  return {user, frames.end()};
}

std::string_view FutexStats::function_of(FrameId id) const {
  SymbolId symbol = session_.frame(id).symbol;
  return symbol.valid() ? session_.symbolizer().label(symbol) : std::string_view();
}

std::string FutexStats::frame_label(FrameId id) const {
  const Frame& frame = session_.frame(id);
  std::string_view object = "[unknown]";
  if (frame.dso.valid()) object = session_.machine().dsos()[frame.dso].short_name;
  if (!frame.symbol.valid()) return fmt::format("{}+{:#x}", object, frame.address);
  return fmt::format("{}+{:#x}", function_of(id), frame.address - frame.symbol_start);
}

FutexStats::Place FutexStats::make_place(const FutexWait& wait,
                                         std::span<const FrameId> chain) const {
  Place place;
  place.caller =
      find_futex_caller(wait.operation, [&](size_t i) -> std::optional<std::string_view> {
        if (i >= chain.size()) return std::nullopt;
        return function_of(chain[i]);
      });
  size_t first = std::min(place.caller.frame, chain.size());
  size_t end = std::min(chain.size(), std::max(first + 1, options_.max_stack));
  // Kinds stay separate: a condition's wait and its mutex have the same caller.
  place.key = add_to_caller_key(static_cast<uint64_t>(place.caller.kind), 0);
  for (size_t i = first; i < end; ++i) place.key = place.key * 31 + chain[i].value + 1;
  place.name = first < chain.size() ? frame_label(chain[first]) : "Unknown";
  place.passes = options_.functions.empty() || std::ranges::any_of(chain, [&](FrameId id) {
                   return std::ranges::any_of(options_.functions, [&](const std::string& part) {
                     return function_of(id).contains(part);
                   });
                 });
  return place;
}

const FutexStats::Place& FutexStats::place_of(const FutexWait& wait) {
  ChainId chain = session_.samples().chain_of(wait.sample);
  uint64_t number = chain.valid() ? chain.value : UINT32_MAX;
  auto [found, is_new] = places_.try_emplace(number << 8 | (wait.operation & kFutexOperationMask));
  if (is_new) found.value() = make_place(wait, chain_of(wait));
  return found->second;
}

const std::string& FutexStats::name_word(const FutexWait& wait) {
  auto [found, is_new] = word_names_.try_emplace({wait.word, wait.pid});
  if (is_new && wait.word != 0)
    if (auto variable = variables_.find(wait.pid, wait.time_ns, RuntimeAddr(wait.word)))
      found.value() = fmt::format("{} ({})", variable->label(),
                                  session_.machine().dsos()[variable->dso].short_name);
  return found->second;
}

bool FutexStats::is_chosen(const FutexWait& wait) {
  if (options_.locks.empty()) return true;
  return std::ranges::any_of(options_.locks, [&](const std::string& lock) {
    std::string_view digits = lock;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    if (auto address = parse_hex(digits)) return *address == wait.word;
    std::string_view name = name_word(wait);
    return name.starts_with(lock) &&
           (name.size() == lock.size() || name[lock.size()] == ' ' || name[lock.size()] == '+');
  });
}

uint32_t FutexStats::owner_of(const FutexWait& wait, FutexKind kind) const {
  if (wait.owner == 0 || wait.owner == wait.tid) return 0;
  if (kind != FutexKind::kMutex && kind != FutexKind::kPiMutex && kind != FutexKind::kFutex)
    return 0;
  // What follows a word that is not a pthread mutex may be anything; but it is hardly the tid of
  // one of the process's threads.
  const Machine::Thread* owner = session_.machine().thread(wait.owner);
  return owner != nullptr && owner->pid == wait.pid ? wait.owner : 0;
}

LockRow& FutexStats::row_of(const FutexWait& wait, const Place& place) {
  WordKey key{place.key, 0};
  uint64_t shown = place.key;
  uint32_t owner = owner_of(wait, place.caller.kind);
  switch (options_.grouping) {
    case LockGrouping::kLock:
      key = {wait.word, wait.pid};
      shown = wait.word;
      break;
    case LockGrouping::kThread:
      key.word = shown = wait.tid;
      break;
    case LockGrouping::kOwner:
      key.word = shown = owner == 0 ? UINT64_MAX : owner;
      break;
    default:
      break;
  }
  auto [found, is_new] = by_key_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (!is_new) return rows_[found->second];
  LockRow& row = rows_.emplace_back();
  row.key = shown;
  row.flags = static_cast<uint32_t>(place.caller.kind);
  auto comm = [&](uint32_t tid) {
    return std::string(session_.strings().view(session_.machine().comm_at(tid, wait.time_ns)));
  };
  switch (options_.grouping) {
    case LockGrouping::kLock:
      row.name = name_word(wait);
      break;
    case LockGrouping::kThread:
      row.name = comm(wait.tid);
      break;
    case LockGrouping::kOwner:
      if (owner != 0) row.name = comm(owner);
      break;
    default:
      row.name = place.name;
  }
  if (options_.keep_stacks)
    for (FrameId id : chain_of(wait)) {
      const Frame& frame = session_.frame(id);
      std::string_view object = frame.dso.valid()
                                    ? std::string_view(session_.machine().dsos()[frame.dso].path)
                                    : "[unknown]";
      row.frames.push_back(frame.symbol.valid() ? fmt::format("{} ({})", frame_label(id), object)
                                                : fmt::format("{:#x} ({})", frame.address, object));
    }
  return row;
}

void FutexStats::consume(const FutexWait& wait) {
  const Place& place = place_of(wait);
  if (!place.passes || !options_.kinds.passes(place.caller.kind) || !is_chosen(wait)) return;
  if (wait.outcome == FutexOutcome::kTimedOut) {
    timed_out_.count += wait.count;
    timed_out_.total_ns += wait.total_ns;
    return;
  }
  if (wait.outcome == FutexOutcome::kLasts) {
    lasting_.count += wait.count;
    lasting_.total_ns += wait.total_ns;
  }
  LockRow& row = row_of(wait, place);
  row.contended += wait.count;
  row.acquired += wait.count;
  row.total_ns += wait.total_ns;
  row.longest_ns = std::max(row.longest_ns, wait.longest_ns);
  row.shortest_ns = std::min(row.shortest_ns, wait.shortest_ns);
}

std::vector<LockRow> FutexStats::rows() const {
  std::vector<LockRow> rows = rows_;
  to_perf_order(rows);
  return rows;
}

}  // namespace sonde
