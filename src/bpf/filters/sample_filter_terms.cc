#include "bpf/filters/sample_filter_terms.h"

#include <algorithm>
#include <array>
#include <span>

#include "abi/perf_event.h"
#include "base/text.h"
#include "bpf/filters/filter_text.h"

namespace sonde {
namespace {

struct NamedValue {
  std::string_view name;
  uint64_t value;
};
// include/uapi/linux/perf_event.h, PERF_MEM_*.
constexpr NamedValue kMemoryOperations[] = {
    {"na", 1}, {"load", 2}, {"store", 4}, {"pfetch", 8}, {"exec", 16}};
constexpr NamedValue kMemoryLevels[] = {
    {"l1", 1},   {"l2", 2},       {"l3", 3},    {"l4", 4},  {"l2_mhb", 5},
    {"msc", 6},  {"uncached", 8}, {"cxl", 9},   {"io", 10}, {"any_cache", 11},
    {"lfb", 12}, {"ram", 13},     {"pmem", 14}, {"na", 15}};
constexpr NamedValue kMemorySnoops[] = {{"na", 1},    {"none", 2}, {"hit", 4},  {"miss", 8},
                                        {"hitm", 16}, {"fwd", 32}, {"peer", 64}};
constexpr NamedValue kMemoryRemote[] = {{"remote", 1}};
constexpr NamedValue kMemoryLocks[] = {{"na", 1}, {"locked", 2}};
constexpr NamedValue kMemoryTlbs[] = {{"na", 1},  {"hit", 2},   {"miss", 4},  {"l1", 8},
                                      {"l2", 16}, {"walk", 32}, {"fault", 64}};
constexpr NamedValue kMemoryBlocks[] = {{"na", 1}, {"by_data", 2}, {"by_addr", 4}};
constexpr NamedValue kMemoryHops[] = {{"hops0", 1}, {"hops1", 2}, {"hops2", 3}, {"hops3", 4}};

struct SampleTerm {
  std::string_view name;
  sample_value value;
  uint64_t sample_types = 0;  // one of these bits
  std::string_view remedy = {};
  uint8_t shift = 0, width = 64;
  std::span<const NamedValue> names = {};
};

constexpr std::string_view kMemoryRemedy = "record memory accesses, as 'mem record' does";
constexpr SampleTerm kSampleTerms[] = {
    {"pid", SAMPLE_PID},
    {"tid", SAMPLE_TID},
    {"cpu", SAMPLE_CPU},
    {"uid", SAMPLE_UID},
    {"gid", SAMPLE_GID},
    {"cgroup", SAMPLE_CGROUP},
    {"period", SAMPLE_PERIOD},
    {"ip", SAMPLE_IP, abi::kSampleIp, "it is always sampled"},
    {"id", SAMPLE_ID, abi::kSampleId | abi::kSampleIdentifier, "--sample-identifier"},
    {"time", SAMPLE_TIME, abi::kSampleTime, "-T"},
    {"addr", SAMPLE_ADDR, abi::kSampleAddr, "-d"},
    {"txn", SAMPLE_TXN, abi::kSampleTransaction, "--transaction"},
    {"weight", SAMPLE_WEIGHT, abi::kSampleWeight, "-W"},
    {"weight1", SAMPLE_WEIGHT, abi::kSampleWeightAny, "-W", 0, 32},
    {"weight2", SAMPLE_WEIGHT, abi::kSampleWeightStruct, "-W", 32, 16},
    {"weight3", SAMPLE_WEIGHT, abi::kSampleWeightStruct, "-W", 48, 16},
    {"ins_lat", SAMPLE_WEIGHT, abi::kSampleWeightStruct, "-W", 32, 16},
    {"retire_lat", SAMPLE_WEIGHT, abi::kSampleWeightStruct, "-W", 48, 16},
    {"p_stage_cyc", SAMPLE_WEIGHT, abi::kSampleWeightStruct, "-W", 48, 16},
    {"phys_addr", SAMPLE_PHYS_ADDR, abi::kSamplePhysAddr, "--phys-data"},
    {"code_pgsz", SAMPLE_CODE_PAGE, abi::kSampleCodePageSize, "--code-page-size"},
    {"data_pgsz", SAMPLE_DATA_PAGE, abi::kSampleDataPageSize, "--data-page-size"},
    {"mem_op", SAMPLE_DATA_SOURCE, abi::kSampleDataSrc, kMemoryRemedy, 0, 5, kMemoryOperations},
    {"mem_lvl", SAMPLE_DATA_SOURCE, abi::kSampleDataSrc, kMemoryRemedy, 33, 4, kMemoryLevels},
    {"mem_snoop", SAMPLE_SNOOP, abi::kSampleDataSrc, kMemoryRemedy, 0, 64, kMemorySnoops},
    {"mem_remote", SAMPLE_DATA_SOURCE, abi::kSampleDataSrc, kMemoryRemedy, 37, 1, kMemoryRemote},
    {"mem_lock", SAMPLE_DATA_SOURCE, abi::kSampleDataSrc, kMemoryRemedy, 24, 2, kMemoryLocks},
    {"mem_dtlb", SAMPLE_DATA_SOURCE, abi::kSampleDataSrc, kMemoryRemedy, 26, 7, kMemoryTlbs},
    {"mem_blk", SAMPLE_DATA_SOURCE, abi::kSampleDataSrc, kMemoryRemedy, 40, 3, kMemoryBlocks},
    {"mem_hops", SAMPLE_DATA_SOURCE, abi::kSampleDataSrc, kMemoryRemedy, 43, 3, kMemoryHops},
};

struct SpelledOperation {
  std::string_view text;
  sample_operation operation;
};
constexpr SpelledOperation kSampleOperations[] = {
    {"==", SAMPLE_EQUAL}, {"!=", SAMPLE_NOT_EQUAL}, {"<=", SAMPLE_AT_MOST}, {">=", SAMPLE_AT_LEAST},
    {"<", SAMPLE_LESS},   {">", SAMPLE_GREATER},    {"&", SAMPLE_HAS_BITS}};

template <typename List>
std::string names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& one : list) names.emplace_back(one.name);
  return join(names, " ");
}

class SampleFilterReader : FilterText {
 public:
  SampleFilterReader(std::string_view text,
                     const std::function<std::optional<uint64_t>(const std::string&)>& cgroup_id)
      : FilterText(text), cgroup_id_(cgroup_id) {}

  Result<SampleFilterTerms> read() && {
    std::vector<std::vector<sample_test>> groups;
    size_t count = 0;
    do {
      std::vector<sample_test>& alternatives = groups.emplace_back();
      do {
        alternatives.push_back(TRY(read_test()));
        if (++count > SAMPLE_FILTER_TESTS)
          return refuse(fmt::format("more than {} comparisons", SAMPLE_FILTER_TESTS));
      } while (take("||"));
    } while (take(","));
    skip_blanks();
    if (at_ != text_.size()) return refuse("expected || or a comma");
    join_groups(groups);
    return std::move(made_);
  }

 private:
  std::string_view take_word(std::string_view ends) {
    skip_blanks();
    size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
    std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }

  Result<sample_test> read_test() {
    skip_blanks();
    size_t start = at_;
    std::string_view name = take_word(" \t=!<>&|,");
    const auto* term = std::ranges::find(kSampleTerms, name, &SampleTerm::name);
    if (term == std::end(kSampleTerms)) {
      at_ = start;
      return refuse(fmt::format("expected one of {}", names_of(kSampleTerms)));
    }
    skip_blanks();
    const auto* spelled = std::ranges::find_if(
        kSampleOperations, [this](const SpelledOperation& one) { return take(one.text); });
    if (spelled == std::end(kSampleOperations)) return refuse("expected one of == != < <= > >= &");
    sample_test test{};
    test.value = static_cast<uint8_t>(term->value);
    test.operation = static_cast<uint8_t>(spelled->operation);
    test.shift = term->shift;
    test.width = term->width;
    test.operand = TRY(read_operand(*term));
    if (term->sample_types != 0)
      made_.needs.push_back({term->sample_types, std::string(term->name), term->remedy});
    if (term->value >= SAMPLE_IP) made_.needs_data = term->name;
    return test;
  }

  Result<uint64_t> read_operand(const SampleTerm& term) {
    skip_blanks();
    size_t start = at_;
    std::string word(take_word(" \t|,"));
    if (auto number = parse_number(word)) return *number;
    std::string lower = word;
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    auto named = std::ranges::find(term.names, lower, &NamedValue::name);
    if (named != term.names.end()) return named->value;
    bool is_path = term.value == SAMPLE_CGROUP && word.starts_with('/');
    if (is_path)
      if (auto id = cgroup_id_(word)) return *id;
    at_ = start;
    if (is_path) return refuse("there is no such cgroup");
    if (term.names.empty()) return refuse("expected a number");
    return refuse(fmt::format("expected a number or one of {}", names_of(term.names)));
  }

  /// The last of each group decides whether the group holds.
  void join_groups(const std::vector<std::vector<sample_test>>& groups) {
    for (const std::vector<sample_test>& group : groups) {
      auto next_group = static_cast<uint8_t>(made_.tests.size() + group.size());
      bool is_last = &group == &groups.back();
      for (const sample_test& test : group) {
        sample_test& added = made_.tests.emplace_back(test);
        added.if_true = is_last ? SAMPLE_FILTER_KEEPS : next_group;
        added.if_false =
            &test == &group.back() ? SAMPLE_FILTER_DROPS : static_cast<uint8_t>(made_.tests.size());
      }
    }
  }

  const std::function<std::optional<uint64_t>(const std::string&)>& cgroup_id_;
  SampleFilterTerms made_;
};

}  // namespace

Result<SampleFilterTerms> parse_sample_filter(
    std::string_view text,
    const std::function<std::optional<uint64_t>(const std::string&)>& cgroup_id) {
  return SampleFilterReader(text, cgroup_id).read();
}

}  // namespace sonde
