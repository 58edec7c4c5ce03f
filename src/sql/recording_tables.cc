#include "sql/recording_tables.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/text.h"
#include "perfdata/records/sideband.h"
#include "replay/fields/guest_samples.h"

namespace sonde::sql {
namespace {

using enum Column::Type;

LastingText lasting(std::string_view text) {
  return {text};
}

class Samples final : public RowSource {
 public:
  explicit Samples(SessionTexts& texts)
      : RowSource("samples", {{"id", kInteger, true},
                              {"event", kText, false, true},
                              {"time", kInteger},
                              {"cpu", kInteger},
                              {"pid", kInteger},
                              {"tid", kInteger},
                              {"comm", kText, false, true},
                              {"period", kInteger},
                              {"weight", kInteger},
                              {"symbol", kText, false, true},
                              {"offset", kInteger},
                              {"object", kText, false, true},
                              {"address", kInteger},
                              {"frame", kInteger},
                              {"stack", kInteger},
                              {"mode", kText},
                              {"callchain", kText}}),
        texts_(texts),
        session_(texts_.session()),
        samples_(session_.samples()) {}

  [[nodiscard]] size_t rows() const override { return samples_.size(); }

  [[nodiscard]] Value at(size_t row, size_t column) override {
    switch (column) {
      case 0:
        return number(row);
      case 1:
        return lasting(session_.events().all()[samples_.event[row]].name);
      case 2:
        return number(samples_.time[row]);
      case 3:
        return samples_.cpu[row] == UINT32_MAX ? Value() : number(samples_.cpu[row]);
      case 4:
        return number(samples_.pid[row]);
      case 5:
        return number(samples_.tid[row]);
      case 6:
        return lasting(texts_.text(samples_.comm[row]));
      case 7:
        return number(samples_.period[row]);
      case 8:
        return number(samples_.weight[row]);
      default:
        return code_of(row, column);
    }
  }

  [[nodiscard]] std::pair<size_t, size_t> rows_equal(size_t /*column*/, int64_t value) override {
    bool is_row = value >= 0 && static_cast<uint64_t>(value) < rows();
    return is_row ? std::pair<size_t, size_t>(value, value + 1) : std::pair<size_t, size_t>(0, 0);
  }

  [[nodiscard]] std::vector<uint32_t> sorted_by(size_t column) override {
    std::vector<StringId> ids(rows());
    for (size_t row = 0; row < ids.size(); ++row) ids[row] = text_id(row, column);
    return texts_.sorted(ids);
  }

 private:
  [[nodiscard]] StringId text_id(size_t row, size_t column) {
    switch (column) {
      case 1: {
        if (event_names_.empty())
          for (const EventDesc& event : session_.events().all())
            event_names_.push_back(session_.strings().intern(event.name));
        return event_names_[samples_.event[row]];
      }
      case 6:
        return samples_.comm[row];
      case 9:
        return texts_.symbol(samples_.leaf[row]);
      default:
        return texts_.object(samples_.leaf[row]);
    }
  }

  [[nodiscard]] Value code_of(size_t row, size_t column) {
    FrameId leaf = samples_.leaf[row];
    const Frame& frame = session_.frame(leaf);
    ChainId chain = samples_.chain_of(row);
    switch (column) {
      case 9:
        return lasting(texts_.text(texts_.symbol(leaf)));
      case 10:
        return frame.symbol.valid() ? number(frame.address - frame.symbol_start) : Value();
      case 11:
        return lasting(texts_.text(texts_.object(leaf)));
      case 12:
        return number(frame.address);
      case 13:
        return number(leaf.value);
      case 14:
        return chain.valid() ? number(texts_.same_chain(chain).value) : Value();
      case 15:
        return lasting(mode_name(samples_.cpu_mode[row]));
      default:
        return chain.valid() ? Value(texts_.folded(chain)) : Value();
    }
  }

  static std::string_view mode_name(uint8_t mode) {
    switch (mode) {
      case abi::kMiscKernel:
        return "kernel";
      case abi::kMiscUser:
        return "user";
      case abi::kMiscHypervisor:
        return "hypervisor";
      case abi::kMiscGuestKernel:
        return "guest kernel";
      case abi::kMiscGuestUser:
        return "guest user";
      default:
        return "unknown";
    }
  }

  SessionTexts& texts_;
  const Session& session_;
  const SampleColumns& samples_;
  std::vector<StringId> event_names_;
};

/// What is known of a frame, from a column on: symbol, offset, object, address.
Value frame_value(const SessionTexts& texts, FrameId id, size_t column) {
  const Frame& frame = texts.session().frame(id);
  switch (column) {
    case 0:
      return lasting(texts.text(texts.symbol(id)));
    case 1:
      return frame.symbol.valid() ? number(frame.address - frame.symbol_start) : Value();
    case 2:
      return lasting(texts.text(texts.object(id)));
    default:
      return number(frame.address);
  }
}

/// A row per frame of each distinct stack, the innermost first.
class Stacks final : public RowSource {
 public:
  explicit Stacks(SessionTexts& texts)
      : RowSource("stacks", {{"stack", kInteger, true},
                             {"depth", kInteger},
                             {"frame", kInteger},
                             {"symbol", kText},
                             {"offset", kInteger},
                             {"object", kText},
                             {"address", kInteger}}),
        texts_(texts),
        chains_(texts_.session().chains()) {}

  [[nodiscard]] size_t rows() const override { return starts().back(); }

  [[nodiscard]] Value at(size_t row, size_t column) override {
    move_to(row);
    FrameId frame = chains_[ChainId(chain_)][row - starts()[chain_]];
    switch (column) {
      case 0:
        return number(chain_);
      case 1:
        return number(row - starts()[chain_]);
      case 2:
        return number(frame.value);
      default:
        return frame_value(texts_, frame, column - 3);
    }
  }

  [[nodiscard]] std::pair<size_t, size_t> rows_equal(size_t /*column*/, int64_t value) override {
    if (value < 0 || static_cast<uint64_t>(value) >= chains_.size()) return {0, 0};
    auto chain = static_cast<size_t>(value);
    return {starts()[chain], starts()[chain + 1]};
  }

 private:
  /// Chains that equal an earlier one have no rows.
  [[nodiscard]] const std::vector<size_t>& starts() const {
    if (!starts_.empty()) return starts_;
    starts_.reserve(chains_.size() + 1);
    starts_.push_back(0);
    for (size_t i = 0; i < chains_.size(); ++i) {
      bool is_first = texts_.same_chain(ChainId(i)) == ChainId(i);
      starts_.push_back(starts_.back() + (is_first ? chains_[ChainId(i)].size() : 0));
    }
    return starts_;
  }
  void move_to(size_t row) {
    const std::vector<size_t>& starts = this->starts();
    if (row >= starts[chain_] && row < starts[chain_ + 1]) return;
    auto next = std::ranges::upper_bound(starts, row);
    chain_ = static_cast<size_t>(next - starts.begin()) - 1;
  }

  SessionTexts& texts_;
  const ChainTable& chains_;
  mutable std::vector<size_t> starts_;  // rows before each chain, and in all
  size_t chain_ = 0;                    // of the last row
};

class Frames final : public RowSource {
 public:
  explicit Frames(SessionTexts& texts)
      : RowSource("frames", {{"id", kInteger, true},
                             {"symbol", kText},
                             {"offset", kInteger},
                             {"object", kText},
                             {"address", kInteger},
                             {"source", kText}}),
        texts_(texts) {}

  [[nodiscard]] size_t rows() const override { return texts_.session().frames().size(); }
  [[nodiscard]] Value at(size_t row, size_t column) override {
    if (column == 0) return number(row);
    if (column < 5) return frame_value(texts_, FrameId(row), column - 1);
    const Frame& frame = texts_.session().frame(FrameId(row));
    if (!frame.dso.valid()) return {};
    return texts_.session().symbolizer().srcline(frame.dso, frame.address);
  }
  [[nodiscard]] std::pair<size_t, size_t> rows_equal(size_t /*column*/, int64_t value) override {
    bool is_row = value >= 0 && static_cast<uint64_t>(value) < rows();
    return is_row ? std::pair<size_t, size_t>(value, value + 1) : std::pair<size_t, size_t>(0, 0);
  }

 private:
  SessionTexts& texts_;
};

class Threads final : public RowSource {
 public:
  explicit Threads(const Session& session)
      : RowSource("threads", {{"tid", kInteger},
                              {"pid", kInteger},
                              {"ppid", kInteger},
                              {"comm", kText},
                              {"start", kInteger},
                              {"exit", kInteger}}),
        session_(session),
        threads_(session.machine().threads()) {}

  [[nodiscard]] size_t rows() const override { return threads_.size(); }
  [[nodiscard]] Value at(size_t row, size_t column) override {
    const auto& [tid, thread] = threads_[row];
    switch (column) {
      case 0:
        return number(tid);
      case 1:
        return number(thread->pid);
      case 2:
        return thread->ppid == 0 ? Value() : number(thread->ppid);
      case 3:
        if (thread->comms.empty()) return {};
        return lasting(session_.strings().view(thread->comms.back().comm));
      case 4:
        return number(thread->start_ns);
      default:
        return thread->exited ? number(thread->exit_ns) : Value();
    }
  }

 private:
  const Session& session_;
  std::vector<std::pair<uint32_t, const Machine::Thread*>> threads_;
};

/// The records of mappings, as they came.
class Mappings final : public RowSource {
 public:
  explicit Mappings(const Session& session)
      : RowSource("mappings", {{"time", kInteger},
                               {"pid", kInteger},
                               {"tid", kInteger},
                               {"start", kInteger},
                               {"length", kInteger},
                               {"offset", kInteger},
                               {"protection", kText},
                               {"object", kText}}),
        session_(session) {
    for (const OtherRecord& record : session.other_records())
      if (decode(record)) records_.push_back(&record);
  }

  [[nodiscard]] size_t rows() const override { return records_.size(); }
  [[nodiscard]] Value at(size_t row, size_t column) override {
    std::optional<MmapRecord> record = decode(*records_[row]);
    if (!record) return {};
    switch (column) {
      case 0:
        return number(records_[row]->time);
      case 1:
        return record->pid == UINT32_MAX ? Value(int64_t{-1})
                                         : number(task_of(*records_[row], record->pid));
      case 2:
        return number(task_of(*records_[row], record->tid));
      case 3:
        return number(record->start.value);
      case 4:
        return number(record->length);
      case 5:
        return number(record->offset.value);
      case 6:
        return protection_of(*record);
      default:
        return std::string(record->path);
    }
  }

 private:
  /// With the number that the other tables have for it.
  [[nodiscard]] uint32_t task_of(const OtherRecord& record, uint32_t recorded) const {
    const GuestCpu* guest = guest_of(record.view, record.event, session_.events());
    return guest == nullptr ? recorded : guest_task(guest->guest, recorded);
  }
  [[nodiscard]] std::optional<MmapRecord> decode(const OtherRecord& record) const {
    uint32_t type = record.view.type;
    if (type != abi::kRecordMmap && type != abi::kRecordMmap2) return std::nullopt;
    bool has_event = record.event.valid();
    return decode_as<MmapRecord>(
        record.view, has_event ? session_.events().all()[record.event.index()].layout : kNoLayout);
  }
  static constexpr SampleLayout kNoLayout = {};
  static std::string protection_of(const MmapRecord& record) {
    std::string text = "---";
    if (!record.is_v2) return record.executable() ? "--x" : text;
    if ((record.protection & PROT_READ) != 0) text[0] = 'r';
    if ((record.protection & PROT_WRITE) != 0) text[1] = 'w';
    if ((record.protection & PROT_EXEC) != 0) text[2] = 'x';
    return text;
  }

  const Session& session_;
  std::vector<const OtherRecord*> records_;
};

class Objects final : public RowSource {
 public:
  explicit Objects(const Session& session)
      : RowSource("objects",
                  {{"path", kText}, {"name", kText}, {"build_id", kText}, {"side", kText}}),
        dsos_(session.machine().dsos()) {}

  [[nodiscard]] size_t rows() const override { return dsos_.size(); }
  [[nodiscard]] Value at(size_t row, size_t column) override {
    const Dso& dso = dsos_[DsoId(row)];
    switch (column) {
      case 0:
        return lasting(dso.path);
      case 1:
        return lasting(dso.short_name);
      case 2:
        return dso.build_id.empty() ? Value() : Value(to_hex(dso.build_id));
      default:
        return lasting(dso.is_kernel_side ? "kernel" : "user");
    }
  }

 private:
  const DsoTable& dsos_;
};

class Events final : public RowSource {
 public:
  explicit Events(const Session& session)
      : RowSource("events", {{"id", kInteger},
                             {"name", kText},
                             {"type", kInteger},
                             {"config", kInteger},
                             {"period", kInteger},
                             {"frequency", kInteger},
                             {"samples", kInteger}}),
        events_(session.events().all()),
        counts_(events_.size()) {
    for (uint32_t event : session.samples().event) ++counts_[event];
  }

  [[nodiscard]] size_t rows() const override { return events_.size(); }
  [[nodiscard]] Value at(size_t row, size_t column) override {
    const EventDesc& event = events_[row];
    switch (column) {
      case 0:
        return number(row);
      case 1:
        return lasting(event.name);
      case 2:
        return number(event.attr.type);
      case 3:
        return number(event.attr.config);
      case 4:
        return event.attr.freq != 0 ? Value() : number(event.attr.sample_period);
      case 5:
        return event.attr.freq != 0 ? number(event.attr.sample_period) : Value();
      default:
        return number(counts_[row]);
    }
  }

 private:
  const std::vector<EventDesc>& events_;
  std::vector<uint64_t> counts_;
};

}  // namespace

std::vector<std::unique_ptr<RowSource>> recording_tables(SessionTexts& texts) {
  const Session& session = texts.session();
  std::vector<std::unique_ptr<RowSource>> tables;
  tables.push_back(std::make_unique<Samples>(texts));
  tables.push_back(std::make_unique<Stacks>(texts));
  tables.push_back(std::make_unique<Frames>(texts));
  tables.push_back(std::make_unique<Threads>(session));
  tables.push_back(std::make_unique<Mappings>(session));
  tables.push_back(std::make_unique<Objects>(session));
  tables.push_back(std::make_unique<Events>(session));
  return tables;
}

}  // namespace sonde::sql
