#include "base/bounds/regex.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <vector>

namespace sonde {
namespace {

constexpr size_t kMostGroups = 100;     // within each other
constexpr uint64_t kMostCost = 16'000;  // characters, after repetitions have been written out
constexpr uint64_t kCostOfChoice = 8;   // of | * + ? and groups, in characters
// Of ^ $ \b \< … elsewhere than at the ends of the pattern's choices: time grows with their cube.
constexpr uint64_t kCostOfCondition = 800;
constexpr uint64_t kManyTimes = 1u << 15;  // RE_DUP_MAX of glibc
constexpr size_t kShownOfPattern = 60;

uint64_t times(uint64_t cost, uint64_t count) {
  return std::min(cost, kMostCost + 1) * std::min(count, kManyTimes);
}

/// Adds up what regcomp makes of a pattern. What it would refuse itself need not be understood.
class CostCounter {
 public:
  explicit CostCounter(std::string_view pattern) : pattern_(pattern) {}

  std::string verdict() {
    if (pattern_.size() > kMostCost)
      return fmt::format("it has {} characters: {} are the most", pattern_.size(), kMostCost);
    while (at_ < pattern_.size()) {
      step();
      if (groups_.size() > kMostGroups + 1)
        return fmt::format("it nests more than {} groups", kMostGroups);
      if (has_back_reference_) return "back references (\\1) are not supported";
      if (total() > kMostCost)
        return fmt::format("its repetitions and choices make it too large (more than {})",
                           kMostCost);
    }
    return {};
  }

 private:
  struct Group {
    uint64_t before = 0;  // of what precedes the last atom
    uint64_t atom = 0;    // of what a repetition would repeat
  };

  [[nodiscard]] uint64_t total() const {
    uint64_t sum = 0;
    for (const Group& group : groups_) sum += group.before + group.atom;
    return sum;
  }
  void begin_atom(uint64_t cost) {
    Group& group = groups_.back();
    group.before += group.atom;
    group.atom = cost;
  }
  void step() {
    char c = pattern_[at_++];
    Group& group = groups_.back();
    switch (c) {
      case '\\':
        return escape();
      case '[':
        begin_atom(1);
        return skip_bracket();
      case '(':
        begin_atom(0);
        groups_.push_back({});
        return;
      case ')':
        return end_group();
      case '|':
        return begin_atom(kCostOfChoice);
      case '*':
      case '?':
        group.atom += kCostOfChoice;
        return;
      case '+':
        // x+ is x x*.
        group.atom = times(group.atom, 2) + kCostOfChoice;
        return;
      case '{':
        return repeat();
      case '^':
      case '$':
        return begin_atom(is_at_end_of_choice() ? kCostOfChoice : kCostOfCondition);
      default:
        return begin_atom(1);
    }
  }
  /// Of the whole pattern's choices: "^read$|^write$".
  [[nodiscard]] bool is_at_end_of_choice() const {
    if (groups_.size() > 1) return false;
    size_t at = at_ - 1;
    return pattern_[at] == '^' ? at == 0 || pattern_[at - 1] == '|'
                               : at_ == pattern_.size() || pattern_[at_] == '|';
  }
  void escape() {
    if (at_ >= pattern_.size()) return begin_atom(1);
    char c = pattern_[at_++];
    has_back_reference_ |= c >= '1' && c <= '9';
    constexpr std::string_view kConditions = "bB<>`'";
    begin_atom(kConditions.find(c) == std::string_view::npos ? 1 : kCostOfCondition);
  }
  void end_group() {
    if (groups_.size() == 1) return begin_atom(1);  // stands for itself
    uint64_t cost = groups_.back().before + groups_.back().atom + kCostOfChoice;
    groups_.pop_back();
    groups_.back().atom = cost;
  }
  /// "]" right after "[" or "[^" is a member, as are those of "[:alpha:]", "[.a.]" and "[=a=]".
  void skip_bracket() {
    if (at_ < pattern_.size() && pattern_[at_] == '^') ++at_;
    if (at_ < pattern_.size() && pattern_[at_] == ']') ++at_;
    while (at_ < pattern_.size()) {
      char c = pattern_[at_++];
      if (c == ']') return;
      char kind = at_ < pattern_.size() ? pattern_[at_] : '\0';
      if (c != '[' || (kind != ':' && kind != '.' && kind != '=')) continue;
      const char end[] = {kind, ']'};
      size_t found = pattern_.find(std::string_view(end, sizeof end), at_ + 1);
      if (found != std::string_view::npos) at_ = found + 2;
    }
  }
  /// {2}, {2,}, {2,5}, {,5}
  void repeat() {
    uint64_t least = number();
    uint64_t most = least;
    bool is_open = false;
    if (at_ < pattern_.size() && pattern_[at_] == ',') {
      size_t digits = ++at_;
      most = number();
      is_open = at_ == digits;
    }
    if (at_ < pattern_.size() && pattern_[at_] == '}') ++at_;
    uint64_t copies = std::max({is_open ? least + 1 : most, least, uint64_t{1}});
    Group& group = groups_.back();
    // Those that may be missing are choices.
    uint64_t choices = is_open ? 1 : most - std::min(most, least);
    group.atom = times(group.atom, copies) + times(kCostOfChoice, choices);
  }
  uint64_t number() {
    uint64_t value = 0;
    for (; at_ < pattern_.size() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_)
      value = std::min(kManyTimes, value * 10 + static_cast<uint64_t>(pattern_[at_] - '0'));
    return value;
  }

  std::string_view pattern_;
  size_t at_ = 0;
  std::vector<Group> groups_ = {{}};
  bool has_back_reference_ = false;
};

std::string shown(std::string_view pattern) {
  if (pattern.size() <= kShownOfPattern) return std::string(pattern);
  return fmt::format("{}…", pattern.substr(0, kShownOfPattern));
}

}  // namespace

struct Regex::Compiled {
  regex_t regex{};
  bool is_good = false;
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (is_good) regfree(&regex);
  }
};

Regex::Regex(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

std::string Regex::too_costly(std::string_view pattern) {
  return CostCounter(pattern).verdict();
}

Result<Regex> Regex::compile(const std::string& pattern, Letters letters) {
  if (std::string why = too_costly(pattern); !why.empty())
    return fail(ErrorCode::kUsage, "'{}': {}: use a simpler pattern", shown(pattern), why);
  auto compiled = std::make_unique<Compiled>();
  int flags = REG_EXTENDED | (letters == Letters::kIgnoreCase ? REG_ICASE : 0);
  int status = regcomp(&compiled->regex, pattern.c_str(), flags);
  if (status != 0) {
    char reason[128];
    regerror(status, &compiled->regex, reason, sizeof reason);
    return fail(ErrorCode::kUsage, "'{}': {}", shown(pattern), reason);
  }
  compiled->is_good = true;
  return Regex(std::move(compiled));
}

bool Regex::matches(std::string_view text) const {
  regmatch_t whole{0, static_cast<regoff_t>(text.size())};
  return regexec(&compiled_->regex, text.data(), 0, &whole, REG_STARTEND) == 0;
}

std::optional<std::pair<size_t, size_t>> Regex::find(std::string_view text, size_t from) const {
  regmatch_t found{static_cast<regoff_t>(from), static_cast<regoff_t>(text.size())};
  int flags = REG_STARTEND | (from > 0 ? REG_NOTBOL : 0);
  if (regexec(&compiled_->regex, text.data(), 1, &found, flags) != 0) return std::nullopt;
  return std::pair(static_cast<size_t>(found.rm_so), static_cast<size_t>(found.rm_eo));
}

}  // namespace sonde
