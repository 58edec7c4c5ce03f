#include "sched/schedstat.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <tuple>

namespace sonde {
namespace {

/// Iterates over the words of a line.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    size_t begin = rest_.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return {};
    rest_.remove_prefix(begin);
    std::string_view word = rest_.substr(0, rest_.find_first_of(" \t"));
    rest_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view rest_;
};

template <typename Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "cpu12": 12.
std::optional<uint32_t> number_behind(std::string_view prefix, std::string_view word) {
  if (!word.starts_with(prefix)) return std::nullopt;
  return number<uint32_t>(word.substr(prefix.size()));
}

/// Converts a CPU mask as the kernel prints it, "00000001,80000003", to a list: "0-1,31-32".
std::optional<std::string> cpu_list(std::string_view mask) {
  std::vector<uint32_t> words;
  while (true) {
    size_t comma = mask.find(',');
    auto word = number<uint32_t>(mask.substr(0, comma), 16);
    if (!word) return std::nullopt;
    words.push_back(*word);
    if (comma == std::string_view::npos) break;
    mask.remove_prefix(comma + 1);
  }
  std::ranges::reverse(words);
  constexpr size_t kBits = 32;
  auto is_set = [&](size_t cpu) {
    return cpu < words.size() * kBits && (words[cpu / kBits] >> cpu % kBits & 1) != 0;
  };
  std::string list;
  for (size_t cpu = 0; cpu < words.size() * kBits; ++cpu) {
    if (!is_set(cpu)) continue;
    size_t last = cpu;
    while (is_set(last + 1)) ++last;
    if (!list.empty()) list += ',';
    list += last == cpu ? fmt::format("{}", cpu) : fmt::format("{}-{}", cpu, last);
    cpu = last;
  }
  return list;
}

bool read_values(Words& words, size_t count, std::vector<uint64_t>& values) {
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    auto value = number<uint64_t>(word);
    if (!value || values.size() == count) return false;
    values.push_back(*value);
  }
  return values.size() == count;
}

class Parser {
 public:
  /// False if the line is damaged. Lines that no version has are ignored.
  bool consume(std::string_view line) {
    Words words(line);
    std::string_view what = words.next();
    if (what == "timestamp") {
      auto jiffies = number<uint64_t>(words.next());
      if (jiffies) stat_.jiffies = *jiffies;
      return jiffies.has_value();
    }
    if (auto cpu = number_behind("cpu", what)) {
      if (!stat_.cpus.empty() && stat_.cpus.back().cpu >= *cpu) return false;
      stat_.cpus.push_back({.cpu = *cpu, .values = {}, .domains = {}});
      return read_values(words, kSchedstatCpuValues, stat_.cpus.back().values);
    }
    auto level = number_behind("domain", what);
    return !level || take_domain(*level, words);
  }
  Schedstat& stat() { return stat_; }

 private:
  bool take_domain(uint32_t level, Words& words) {
    if (stat_.cpus.empty()) return false;
    std::vector<SchedstatDomain>& domains = stat_.cpus.back().domains;
    if (!domains.empty() && domains.back().level >= level) return false;
    SchedstatDomain domain{.level = level, .name = {}, .cpus = {}, .mask = {}, .values = {}};
    constexpr uint32_t kFirstWithNames = 17;
    if (stat_.version >= kFirstWithNames) domain.name = words.next();
    domain.mask = words.next();
    auto cpus = cpu_list(domain.mask);
    if (!cpus) return false;
    domain.cpus = std::move(*cpus);
    if (!read_values(words, schedstat_domain_values(stat_.version), domain.values)) return false;
    domains.push_back(std::move(domain));
    return true;
  }
  Schedstat stat_;
};

std::vector<uint64_t> grown(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after,
                            size_t narrow) {
  std::vector<uint64_t> values(std::min(before.size(), after.size()));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = after[i] - before[i];
    if (i < narrow) values[i] = static_cast<uint32_t>(values[i]);
  }
  return values;
}

/// CPUs and domains are in order of their numbers.
template <typename List, typename Key>
auto find_by(const List& list, Key key, uint32_t wanted) {
  auto found = std::ranges::lower_bound(list, wanted, {}, key);
  return found == list.end() || std::invoke(key, *found) != wanted ? nullptr : &*found;
}

void add(std::vector<uint64_t>& sums, const std::vector<uint64_t>& values) {
  sums.resize(std::max(sums.size(), values.size()));
  for (size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}
void divide(std::vector<uint64_t>& sums, uint64_t by) {
  for (uint64_t& sum : sums) sum /= by;
}

// --- fields

constexpr std::array kCpuFields{
    SchedstatCpuField{"yld_count", "calls of sched_yield()"},
    SchedstatCpuField{"array_exp", "always 0"},
    SchedstatCpuField{"sched_count", "calls of schedule()"},
    SchedstatCpuField{"sched_goidle", "calls of schedule() that left the CPU idle", 2},
    SchedstatCpuField{"ttwu_count", "wakeups"},
    SchedstatCpuField{"ttwu_local", "wakeups on the waker's CPU", 4},
    SchedstatCpuField{"rq_cpu_time", "time that tasks ran, ns"},
    SchedstatCpuField{"run_delay", "time that tasks waited for the CPU, ns", 6},
    SchedstatCpuField{"pcount", "time slices"},
};
static_assert(kCpuFields.size() == kSchedstatCpuValues);

struct Suffix {
  std::string_view name, description;
  bool is_event = false;
};
// For each state in which a CPU balances its load.
constexpr std::array kBalanceHead{
    Suffix{"lb_count", "attempts to balance", true},
    Suffix{"lb_balanced", "attempts that found balance", true},
    Suffix{"lb_failed", "attempts that moved nothing", true},
};
constexpr std::array kOneImbalance{Suffix{"lb_imbalance", "imbalance, sum"}};
constexpr std::array kFourImbalances{
    Suffix{"lb_imbalance_load", "imbalance of load, sum"},
    Suffix{"lb_imbalance_util", "imbalance of utilisation, sum"},
    Suffix{"lb_imbalance_task", "imbalance of numbers of tasks, sum"},
    Suffix{"lb_imbalance_misfit", "imbalance by tasks too large for their CPU, sum"},
};
constexpr std::array kBalanceTail{
    Suffix{"lb_gained", "tasks pulled"},
    Suffix{"lb_hot_gained", "tasks pulled although cache-hot"},
    Suffix{"lb_nobusyq", "attempts without a busier queue", true},
    Suffix{"lb_nobusyg", "attempts without a busier group", true},
};
struct Group {
  std::string_view category;
  std::array<Suffix, 3> fields;
};
constexpr std::array kOtherGroups{
    Group{
        " <Category active_load_balance()> ",
        {Suffix{"alb_count", "active balancing"}, Suffix{"alb_failed", "active balancing: failed"},
         Suffix{"alb_pushed", "active balancing: tasks pushed"}}},
    Group{" <Category sched_balance_exec()> ",
          {Suffix{"sbe_count", "not used"}, Suffix{"sbe_balanced", "not used"},
           Suffix{"sbe_pushed", "not used"}}},
    Group{" <Category sched_balance_fork()> ",
          {Suffix{"sbf_count", "not used"}, Suffix{"sbf_balanced", "not used"},
           Suffix{"sbf_pushed", "not used"}}},
    Group{" <Wakeup Info> ",
          {Suffix{"ttwu_wake_remote", "wakeups of tasks that last ran on another CPU"},
           Suffix{"ttwu_move_affine", "wakeups that moved the task to the waker's CPU"},
           Suffix{"ttwu_move_balance", "wakeups that began passive balancing"}}},
};
struct State {
  std::string_view prefix, category, words;
};
constexpr State kIdle{"idle_", " <Category idle> ", "idle CPU"};
constexpr State kBusy{"busy_", " <Category busy> ", "busy CPU"};
constexpr State kNewlyIdle{"newidle_", " <Category newidle> ", "newly idle CPU"};

class FieldList {
 public:
  using Kind = SchedstatDomainField::Kind;

  void add_state(const State& state, bool has_one_imbalance) {
    size_t attempts = next_;
    category_ = state.category;
    add_balance(state, kBalanceHead);
    if (has_one_imbalance)
      add_balance(state, kOneImbalance);
    else
      add_balance(state, kFourImbalances);
    size_t gained = next_;
    add_balance(state, kBalanceTail);
    for (auto [suffix, words, kind] :
         {std::tuple{"lb_success_count", "attempts that moved tasks", Kind::kSuccesses},
          std::tuple{"lb_avg_pulled", "tasks per attempt that moved some", Kind::kPulled}})
      fields.push_back({.name = fmt::format("*{}{}", state.prefix, suffix),
                        .description = fmt::format("*{}, {}", words, state.words),
                        .category = {},
                        .kind = kind,
                        .index = attempts,
                        .gained = gained});
  }
  void add_group(const Group& group) {
    category_ = group.category;
    for (const Suffix& field : group.fields)
      add(std::string(field.name), std::string(field.description), Kind::kSum);
  }
  std::vector<SchedstatDomainField> fields;

 private:
  void add_balance(const State& state, std::span<const Suffix> suffixes) {
    for (const Suffix& suffix : suffixes)
      add(fmt::format("{}{}", state.prefix, suffix.name),
          fmt::format("{}, {}", suffix.description, state.words),
          suffix.is_event ? Kind::kEvent : Kind::kSum);
  }
  void add(std::string name, std::string description, Kind kind) {
    fields.push_back({.name = std::move(name),
                      .description = std::move(description),
                      .category = std::exchange(category_, {}),
                      .kind = kind,
                      .index = next_++});
  }
  std::string_view category_;
  size_t next_ = 0;
};

}  // namespace

size_t schedstat_domain_values(uint32_t version) {
  constexpr size_t kStates = 3;
  size_t of_state = kBalanceHead.size() + kBalanceTail.size() +
                    (version < 17 ? kOneImbalance.size() : kFourImbalances.size());
  return kStates * of_state + 3 * kOtherGroups.size();
}

std::span<const SchedstatCpuField> schedstat_cpu_fields() {
  return kCpuFields;
}

std::vector<SchedstatDomainField> schedstat_domain_fields(uint32_t version) {
  FieldList list;
  bool one = version < 17;
  // Version 16 lists busy CPUs first.
  list.add_state(version < 16 ? kIdle : kBusy, one);
  list.add_state(version < 16 ? kBusy : kIdle, one);
  list.add_state(kNewlyIdle, one);
  for (const Group& group : kOtherGroups) list.add_group(group);
  return std::move(list.fields);
}

Result<Schedstat> parse_schedstat(std::string_view text, std::string_view name) {
  Parser parser;
  Schedstat& stat = parser.stat();
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line_number == 1) {
      Words words(line);
      bool is_version = words.next() == "version";
      stat.version = number<uint32_t>(words.next()).value_or(0);
      if (!is_version) return fail(ErrorCode::kCorrupt, "{}: does not begin with a version", name);
      if (stat.version < kFirstSchedstat || stat.version > kLastSchedstat)
        return fail(ErrorCode::kUnsupported, "{}: version {} is not known, only {} to {}", name,
                    stat.version, kFirstSchedstat, kLastSchedstat);
    } else if (!parser.consume(line)) {
      return fail(ErrorCode::kCorrupt, "{}: line {} does not match the format of version {}", name,
                  line_number, stat.version);
    }
  }
  if (stat.cpus.empty()) return fail(ErrorCode::kCorrupt, "{}: lists no CPU", name);
  return std::move(stat);
}

Result<Schedstat> schedstat_between(const Schedstat& before, const Schedstat& after) {
  if (before.version != after.version)
    return fail(ErrorCode::kFailed, "the kernel's counters changed from version {} to {}",
                before.version, after.version);
  Schedstat counted{
      .version = after.version, .jiffies = after.jiffies - before.jiffies, .cpus = {}};
  for (const SchedstatCpu& cpu : after.cpus) {
    const SchedstatCpu* was = find_by(before.cpus, &SchedstatCpu::cpu, cpu.cpu);
    if (was == nullptr) continue;
    SchedstatCpu& grew = counted.cpus.emplace_back();
    grew.cpu = cpu.cpu;
    grew.values = grown(was->values, cpu.values, kNarrowCpuValues);
    for (const SchedstatDomain& domain : cpu.domains) {
      const auto* its = find_by(was->domains, &SchedstatDomain::level, domain.level);
      if (its == nullptr) continue;
      grew.domains.push_back(domain);
      grew.domains.back().values = grown(its->values, domain.values, domain.values.size());
    }
  }
  return counted;
}

SchedstatCpu schedstat_average(const Schedstat& counted) {
  SchedstatCpu sums;
  if (counted.cpus.empty()) return sums;
  std::vector<uint64_t> cpus_of;  // parallel to sums.domains
  for (const SchedstatDomain& domain : counted.cpus.front().domains) {
    sums.domains.push_back({.level = domain.level, .name = domain.name, .cpus = {}, .values = {}});
    cpus_of.push_back(0);
  }
  for (const SchedstatCpu& cpu : counted.cpus) {
    add(sums.values, cpu.values);
    for (size_t i = 0; i < sums.domains.size(); ++i)
      if (const auto* its = find_by(cpu.domains, &SchedstatDomain::level, sums.domains[i].level)) {
        add(sums.domains[i].values, its->values);
        ++cpus_of[i];
      }
  }
  divide(sums.values, counted.cpus.size());
  for (size_t i = 0; i < sums.domains.size(); ++i) divide(sums.domains[i].values, cpus_of[i]);
  return sums;
}

}  // namespace sonde
