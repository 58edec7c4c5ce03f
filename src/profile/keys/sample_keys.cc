// Sort keys of what a sample carries in addition to its place: time, weights, transaction,
// tracepoint data, addresses.
#include "event/print_fmt/field_format.h"
#include "profile/keys/key_tools.h"

namespace sonde {
namespace {

/// A number of the sample, left-aligned; larger first.
template <uint64_t (*Get)(const Sample&)>
class NumberKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return Get(row.details()); }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(b, a); }
  [[nodiscard]] bool multiplies() const override { return of_all; }
  void text(uint64_t value, std::string& out) const override {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
  bool of_all = false;  // shows the sum of the row's samples
};

enum class Sum : uint8_t { kOfOne, kOfAll };

template <uint64_t (*Get)(const Sample&)>
KeyResult make_number_key(const ProfileInput& input, const KeySettings& settings,
                          std::string_view name, std::string_view title, size_t min_width,
                          Sum sum) {
  auto key = std::make_unique<NumberKey<Get>>(input, settings);
  key->name = name;
  key->title = title;
  key->min_width = min_width;
  key->of_all = sum == Sum::kOfAll;
  return key;
}

uint64_t weight_of(const Sample& sample) {
  return sample.weight;
}
uint64_t latency_of(const Sample& sample) {
  return sample.ins_latency;
}
uint64_t stage_cycles_of(const Sample& sample) {
  return sample.p_stage_cycles;
}

class TimeKey final : public KeyOfInput {
 public:
  TimeKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {
    min_width = settings.nanoseconds ? 16 : 12;
    cuts = true;
  }
  uint64_t of_row(RowReader& row) override {
    uint64_t time = input_.samples.time[row.sample()];
    uint64_t quantum = settings_.time_quantum_ns;
    return quantum == 0 ? time : time / quantum * quantum;
  }
  void text(uint64_t value, std::string& out) const override {
    if (settings_.nanoseconds)
      fmt::format_to(std::back_inserter(out), "{}.{:09}", value / 1'000'000'000,
                     value % 1'000'000'000);
    else
      fmt::format_to(std::back_inserter(out), "{}.{:06}", value / 1'000'000'000,
                     value % 1'000'000'000 / 1000);
  }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

/// "4K", "2M", "1G": page sizes, which the kernel reports in powers of two.
class PageSizeKey final : public KeyOfInput {
 public:
  PageSizeKey(const ProfileInput& input, const KeySettings& settings)
      : KeyOfInput(input, settings) {
    min_width = 6;
  }
  uint64_t of_row(RowReader& row) override { return row.details().code_page_size; }
  void text(uint64_t value, std::string& out) const override { out += page_size_text(value); }
  [[nodiscard]] size_t width(uint64_t /*value*/, uint32_t /*first_sample*/) const override {
    return 0;
  }
};

/// The sampled address itself, as at run time.
class AddrKey final : public AddressKey {
 public:
  AddrKey(const ProfileInput& input, const KeySettings& settings) : AddressKey(input, settings) {
    min_width = 18;
  }
  uint64_t of_row(RowReader& row) override { return row.details().ip; }
};

class TransactionKey final : public KeyOfInput {
 public:
  using KeyOfInput::KeyOfInput;
  uint64_t of_row(RowReader& row) override { return row.details().transaction; }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override { return three_way(b, a); }
  void text(uint64_t value, std::string& out) const override {
    for (size_t bit = 0; bit < kBits.size(); ++bit)
      if ((value >> bit & 1) != 0) out += kBits[bit];
    if (value != 0 && (value & (kSync | kAsync)) == 0) out += "NEITHER ";
    if (uint64_t code = value >> 32; code != 0)
      fmt::format_to(std::back_inserter(out), ":{:x} ", code);
  }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    if (value == 0) return 0;
    size_t width = 4;
    for (std::string_view bit : kBits) width += bit.size();
    return width;
  }

 private:
  static constexpr uint64_t kSync = 4;
  static constexpr uint64_t kAsync = 8;
  static constexpr std::array<std::string_view, 8> kBits = {
      "EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ "};
};

/// The text of a tracepoint's print format.
class TraceKey final : public KeyOfInput {
 public:
  TraceKey(const ProfileInput& input, const KeySettings& settings) : KeyOfInput(input, settings) {
    cuts = true;
  }
  uint64_t of_row(RowReader& row) override {
    EventId event(size_t{input_.samples.event[row.sample()]});
    const TracepointFormat* format =
        settings_.traces == nullptr ? nullptr : settings_.traces->format(event);
    if (format == nullptr) return input_.strings.intern("N/A").value;
    has_texts_ = true;
    buffer_.clear();
    const Sample& sample = row.details();
    if (settings_.raw_trace)
      append_all_fields(*format, sample.raw, sample.order, buffer_);
    else
      settings_.traces->print(event, sample.raw, buffer_);
    return input_.strings.intern(buffer_).value;
  }
  [[nodiscard]] int collate(uint64_t a, uint64_t b) const override {
    return a == b ? 0 : view(a).compare(view(b));
  }
  void text(uint64_t value, std::string& out) const override { out += view(value); }
  [[nodiscard]] size_t width(uint64_t value, uint32_t /*first_sample*/) const override {
    return has_texts_ ? view(value).size() : 0;
  }

 private:
  [[nodiscard]] std::string_view view(uint64_t value) const {
    return input_.strings.view(StringId(static_cast<size_t>(value)));
  }
  bool has_texts_ = false;
  std::string buffer_;
};

}  // namespace

std::string page_size_text(uint64_t size) {
  if (size == 0) return "N/A";
  constexpr std::string_view kUnits = "BKMGTP";
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", size, kUnits[unit]);
}

KeyResult make_time_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<TimeKey>(input, settings, "time", "Time");
}
KeyResult make_local_weight_key(const ProfileInput& input, const KeySettings& settings) {
  return make_number_key<weight_of>(input, settings, "local_weight", "Local Weight", 12,
                                    Sum::kOfOne);
}
KeyResult make_weight_key(const ProfileInput& input, const KeySettings& settings) {
  return make_number_key<weight_of>(input, settings, "weight", "Weight", 12, Sum::kOfAll);
}
KeyResult make_local_ins_lat_key(const ProfileInput& input, const KeySettings& settings) {
  return make_number_key<latency_of>(input, settings, "local_ins_lat", "Local INSTR Latency", 13,
                                     Sum::kOfOne);
}
KeyResult make_ins_lat_key(const ProfileInput& input, const KeySettings& settings) {
  return make_number_key<latency_of>(input, settings, "ins_lat", "INSTR Latency", 13, Sum::kOfAll);
}
KeyResult make_local_p_stage_cyc_key(const ProfileInput& input, const KeySettings& settings) {
  return make_number_key<stage_cycles_of>(input, settings, "local_p_stage_cyc",
                                          "Local Pipeline Stage Cycle", 13, Sum::kOfOne);
}
KeyResult make_p_stage_cyc_key(const ProfileInput& input, const KeySettings& settings) {
  return make_number_key<stage_cycles_of>(input, settings, "p_stage_cyc", "Pipeline Stage Cycle",
                                          13, Sum::kOfAll);
}
KeyResult make_code_page_size_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<PageSizeKey>(input, settings, "code_page_size", "Code Page Size");
}
KeyResult make_addr_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<AddrKey>(input, settings, "addr", "Address");
}
KeyResult make_transaction_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<TransactionKey>(input, settings, "transaction", "Transaction                ");
}
KeyResult make_trace_key(const ProfileInput& input, const KeySettings& settings) {
  return make_key<TraceKey>(input, settings, "trace", "Trace output");
}

}  // namespace sonde
