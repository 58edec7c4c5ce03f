#include "script/items.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.h"

namespace sonde {

SampleNames::SampleNames(const Session& session, const ItemFilter& filter)
    : session_(session),
      filter_(filter),
      comms_(session.strings(), filter.comms),
      objects_(session.machine().dsos(), filter.dsos) {
  for (const std::string& symbol : filter.symbols)
    if (auto address = parse_hex(symbol)) addresses_.push_back(*address);
}

bool SampleNames::passes_all() const {
  return filter_.comms.empty() && filter_.dsos.empty() && filter_.symbols.empty() &&
         filter_.times.empty();
}

bool SampleNames::matches(uint32_t sample) const {
  const SampleColumns& columns = session_.samples();
  const Frame& leaf = session_.frame(columns.leaf[sample]);
  return comms_.has(columns.comm[sample]) && objects_.has(leaf.dso) && passes_symbol(leaf, sample);
}

bool SampleNames::in_time(uint32_t sample) const {
  return is_in(filter_.times, session_.samples().time[sample]);
}

bool SampleNames::passes_symbol(const Frame& leaf, uint32_t sample) const {
  if (filter_.symbols.empty()) return true;
  if (leaf.symbol.valid() && is_listed(filter_.symbols, session_.symbolizer().name(leaf.symbol)))
    return true;
  Sample whole;
  if (addresses_.empty() || !session_.decode(sample, whole)) return false;
  uint64_t start = whole.ip - (leaf.address - leaf.symbol_start);
  return std::ranges::any_of(addresses_, [&](uint64_t address) {
    return (leaf.symbol.valid() && start == address) ||
           (whole.ip >= address && whole.ip - address <= filter_.address_range);
  });
}

namespace {

/// The positions of records in the recording, to sort samples and other records together.
class Places {
 public:
  explicit Places(const Recording& recording) {
    for (size_t i = 0; i < recording.blocks().size(); ++i)
      blocks_[recording.blocks()[i].bytes.data()] = static_cast<uint32_t>(i);
  }
  [[nodiscard]] uint64_t of(const RecordView& record) const {
    const std::byte* header = record.payload.data() - sizeof(abi::RecordHeader);
    auto above = blocks_.upper_bound(header);
    if (above == blocks_.begin()) return 0;
    auto block = std::prev(above);
    return (uint64_t{block->second} << 32) + static_cast<uint64_t>(header - block->first);
  }
  [[nodiscard]] static uint64_t of(const RecordRef& where) {
    return (uint64_t{where.block} << 32) + where.offset;
  }

 private:
  std::map<const std::byte*, uint32_t, std::less<>> blocks_;
};

struct Placed {
  uint64_t time;
  uint64_t place;
  ScriptItem item;
};

/// In order, with the records that `filter` chooses; `wanted` chooses samples.
template <typename Wanted>
std::vector<ScriptItem> ordered_items(const Session& session, const SamplePrinter& printer,
                                      const ItemFilter& filter, const Wanted& wanted) {
  const SampleColumns& columns = session.samples();
  std::vector<ScriptItem> items;
  if (!filter.records.any()) {
    items.reserve(columns.size());
    for (uint32_t sample : session.time_order())
      if (wanted(sample)) items.push_back({sample, false});
    return items;
  }

  Places places(session.recording());
  RecordLines lines(session, printer);
  std::vector<Placed> placed;
  bool file_order = filter.records.rounds;
  for (uint32_t i = 0; i < columns.size(); ++i)
    if (wanted(i))
      placed.push_back(
          {file_order ? 0 : columns.time[i], Places::of(columns.record[i]), {i, false}});
  for (uint32_t i = 0; i < session.other_records().size(); ++i) {
    const OtherRecord& record = session.other_records()[i];
    if (!filter.records.wants(record.view.type)) continue;
    if (!filter.cpus.empty() &&
        std::ranges::find(filter.cpus, lines.who(record).cpu) == filter.cpus.end())
      continue;
    placed.push_back({file_order ? 0 : record.time, places.of(record.view), {i, true}});
  }
  std::ranges::sort(placed, {}, [](const Placed& p) { return std::pair(p.time, p.place); });
  for (const Placed& p : placed) items.push_back(p.item);
  return items;
}

std::vector<ScriptItem> filtered_items(const Session& session, const SamplePrinter& printer,
                                       const ItemFilter& filter) {
  SampleNames names(session, filter);
  bool all_print = true;
  for (size_t i = 0; i < session.events().size(); ++i) all_print &= printer.prints(EventId(i));
  return ordered_items(session, printer, filter, [&](uint32_t sample) {
    return (all_print || printer.prints(EventId(size_t{session.samples().event[sample]}))) &&
           (names.passes_all() || names.passes(sample));
  });
}

}  // namespace

std::vector<ScriptItem> all_items(const Session& session, const SamplePrinter& printer,
                                  const ItemFilter& filter) {
  return ordered_items(session, printer, filter, [](uint32_t) { return true; });
}

std::vector<ScriptItem> choose_items(const Session& session, const SamplePrinter& printer,
                                     const ItemFilter& filter, EventWindow& chosen) {
  std::vector<ScriptItem> items = filtered_items(session, printer, filter);
  if (chosen.in_use())
    std::erase_if(items, [&](const ScriptItem& item) {
      return !item.is_record && !chosen.shows(EventId(size_t{session.samples().event[item.index]}));
    });
  return items;
}

}  // namespace sonde
