#include "itrace/options.h"

#include <cctype>
#include <charconv>

namespace sonde {
namespace {

constexpr uint64_t kDefaultPeriod_ns = 100'000;
constexpr uint32_t kMostFrames = 1024;

ItraceOptions defaults_of(ItraceDefaults defaults) {
  ItraceOptions o;
  o.errors = true;
  o.transactions = true;
  o.pebs = true;
  o.ptwrites = o.power = o.interrupts = defaults != ItraceDefaults::kProfile;
  if (defaults == ItraceDefaults::kScript) {
    o.calls = true;
    o.unit = PeriodUnit::kInstructions;
    o.period = 1;
    return o;
  }
  o.instructions = o.branches = true;
  o.period = kDefaultPeriod_ns;
  if (defaults == ItraceDefaults::kProfile) {
    o.branches = false;
    o.chains = true;
  }
  return o;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  /// False if the text is not one of options.
  bool parse() {
    o_.period = kDefaultPeriod_ns;
    while (at_ < text_.size())
      if (!option(text_[at_++])) return false;
    return true;
  }
  [[nodiscard]] const ItraceOptions& options() const { return o_; }

 private:
  bool set(bool& what) {
    what = true;
    return true;
  }

  bool option(char letter) {
    switch (letter) {
      case 'i':
        return set(o_.instructions) && period();
      case 'b':
        return set(o_.branches);
      case 'c':
        return set(o_.calls);
      case 'r':
        return set(o_.returns);
      case 'x':
        return set(o_.transactions);
      case 'w':
        return set(o_.ptwrites);
      case 'p':
        return set(o_.power);
      case 'o':
        return set(o_.pebs);
      case 'I':
        return set(o_.interrupts);
      case 'e':
        return set(o_.errors) && error_flags();
      case 'd':
        return set(o_.debug_log) && log_flags();
      case 'f':
        return set(o_.first_level);
      case 'm':
        return set(o_.last_level);
      case 'M':
        return set(o_.memory);
      case 't':
        return set(o_.tlb);
      case 'a':
        return set(o_.remote);
      case 'g':
        return set(o_.chains) && size(o_.chain_size);
      case 'G':
        return set(o_.chains_for_others) && size(o_.chain_size);
      case 'l':
        return set(o_.branch_stacks) && size(o_.branch_stack_size);
      case 'L':
        return set(o_.branch_stacks_for_others) && size(o_.branch_stack_size);
      case 's':
        return number(o_.skipped);
      case 'q':
        ++o_.quick;
        return true;
      case 'A':
        return set(o_.approximate_ipc);
      case 'Z':
        return set(o_.without_times);
      case ' ':
      case ',':
        return true;
      default:
        return false;
    }
  }

  void skip_separators() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ',')) ++at_;
  }
  [[nodiscard]] bool digit_next() const {
    return at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
  }
  bool number(uint64_t& value) {
    const char* begin = text_.data() + at_;
    auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    at_ += static_cast<size_t>(end - begin);
    return error == std::errc();
  }

  /// Nothing, or a number and its unit; the unit may only be missing at the end.
  bool period() {
    size_t back = at_;
    skip_separators();
    if (!digit_next()) {
      at_ = back;
      return true;
    }
    if (!number(o_.period)) return false;
    o_.unit = PeriodUnit::kNanoseconds;
    skip_separators();
    if (at_ == text_.size()) return true;
    uint64_t scale = 1;
    switch (text_[at_++]) {
      case 'i':
        o_.unit = PeriodUnit::kInstructions;
        return true;
      case 't':
        o_.unit = PeriodUnit::kTicks;
        return true;
      case 'm':
        scale = 1'000'000;
        break;
      case 'u':
        scale = 1000;
        break;
      case 'n':
        break;
      default:
        return false;
    }
    if (at_ == text_.size() || text_[at_++] != 's') return false;
    return !__builtin_mul_overflow(o_.period, scale, &o_.period);
  }

  bool size(uint32_t& entries) {
    size_t back = at_;
    skip_separators();
    if (!digit_next()) {
      at_ = back;
      return true;
    }
    uint64_t value = 0;
    if (!number(value) || value == 0 || value > kMostFrames) return false;
    entries = static_cast<uint32_t>(value);
    return true;
  }

  /// "+o-l": each a sign and a letter.
  template <typename Take>
  bool flags(const Take& take) {
    while (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
      bool plus = text_[at_++] == '+';
      if (at_ == text_.size() || std::isalpha(static_cast<unsigned char>(text_[at_])) == 0)
        return false;
      take(plus, text_[at_++]);
    }
    return true;
  }
  bool error_flags() {
    return flags([this](bool plus, char letter) {
      if (letter == 'o') o_.hides_overflows = !plus;
      if (letter == 'l') o_.hides_lost_data = !plus;
    });
  }

  bool log_flags() {
    bool are_known = true;
    return flags([&](bool plus, char letter) {
             if (letter == 'a')
               o_.logged_records = plus ? LoggedRecords::kAll : LoggedRecords::kNone;
             else if (letter == 'e')
               o_.logs_errors_only = plus;
             else if (letter == 'o')
               o_.logs_to_output = plus;
             else
               are_known = false;
           }) &&
           are_known;
  }

  std::string_view text_;
  size_t at_ = 0;
  ItraceOptions o_;
};

}  // namespace

const char* ItraceOptions::only_of_spe() const {
  if (first_level || last_level || tlb || remote || memory) return "f, m, t, a and M (Arm's SPE)";
  return nullptr;
}

const char* ItraceOptions::not_of_spe() const {
  return without_times ? "Z (samples without times)" : nullptr;
}

const char* ItraceOptions::only_of_intel_pt() const {
  if (is_given && ptwrites) return "w (PTWRITE)";
  if (is_given && interrupts) return "I (event trace)";
  if (is_given && pebs) return "o (events recorded by aux-output)";
  if (is_given && power) return "p (power events)";
  if (chains_for_others) return "G (call chains for other events)";
  if (branch_stacks_for_others) return "L (branch stacks for other events)";
  if (approximate_ipc) return "A (approximate IPC)";
  if (debug_log) return "d (a debug log)";
  if (quick > 0) return "q (decoding without the program's code)";
  return nullptr;
}

Result<ItraceOptions> parse_itrace(std::string_view text, ItraceDefaults defaults) {
  if (text.empty()) return defaults_of(defaults);
  Parser parser(text);
  if (!parser.parse()) return fail(ErrorCode::kUsage, "Bad Instruction Tracing options '{}'", text);
  ItraceOptions options = parser.options();
  options.is_given = true;
  return options;
}

}  // namespace sonde
