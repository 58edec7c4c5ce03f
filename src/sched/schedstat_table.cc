#include "sched/schedstat_table.h"

namespace sonde {
namespace {

constexpr size_t kWidth = 100;

double ratio(double value, double of) {
  return of == 0 ? 0 : value / of;
}

/// A place's counters in one recording, or in two.
struct Values {
  const std::vector<uint64_t>& first;
  const std::vector<uint64_t>* second = nullptr;
};

class Table {
 public:
  Table(Sink& out, bool descriptions, double jiffies, std::optional<double> second_jiffies)
      : out_(out),
        descriptions_(descriptions),
        has_two_(second_jiffies.has_value()),
        jiffies_{jiffies, second_jiffies.value_or(0)} {}

  void head() {
    out_.write("Description\n");
    rule();
    out_.write(
        "DESC                    -> Description of the field\n"
        "COUNT                   -> Value of the field\n"
        "PCT_CHANGE              -> Percent change with corresponding base value\n"
        "AVG_JIFFIES             -> Avg time in jiffies between two occurrences of the event\n");
    rule();
    label("Time elapsed (in jiffies)");
    counts(jiffies_[0], jiffies_[1], 0);
    out_.put('\n');
    rule();
  }

  void cpu(std::string_view title, const Values& values) {
    out_.put('\n');
    rule();
    out_.print("CPU {}\n", title);
    rule();
    columns(has_two_ ? "   PCT_CHANGE    PCT_CHANGE1 PCT_CHANGE2" : "   PCT_CHANGE");
    rule();
    std::span<const SchedstatCpuField> fields = schedstat_cpu_fields();
    for (size_t i = 0; i < fields.size(); ++i) {
      label(descriptions_ ? fields[i].description : fields[i].name);
      double first = at(values.first, i), second = has_two_ ? at(*values.second, i) : 0;
      counts(first, second, 0);
      change(first, second);
      if (fields[i].percent_of >= 0) {
        auto base = static_cast<size_t>(fields[i].percent_of);
        percents(100 * ratio(first, at(values.first, base)),
                 has_two_ ? 100 * ratio(second, at(*values.second, base)) : 0);
      }
      out_.put('\n');
    }
  }

  void domain(std::string_view cpu_title, const SchedstatDomain& domain, const Values& values,
              std::span<const SchedstatDomainField> fields) {
    rule();
    out_.print("CPU {}, DOMAIN ", cpu_title);
    if (domain.name.empty())
      out_.print("{}", domain.level);
    else
      out_.write(domain.name);
    if (!domain.cpus.empty()) out_.print(" CPUS {}", domain.cpus);
    out_.put('\n');
    rule();
    columns(has_two_ ? "   PCT_CHANGE     AVG_JIFFIES1 AVG_JIFFIES2" : "    AVG_JIFFIES");
    for (const SchedstatDomainField& field : fields) {
      if (!field.category.empty()) category(field.category);
      using enum SchedstatDomainField::Kind;
      double first = value(field, values.first),
             second = has_two_ ? value(field, *values.second) : 0;
      label(descriptions_ ? field.description : field.name);
      counts(first, second, field.kind == kPulled ? 2 : 0);
      change(first, second);
      if (field.kind == kEvent) intervals(ratio(jiffies_[0], first), ratio(jiffies_[1], second));
      out_.put('\n');
    }
  }
  void rule() { out_.print("{:-<{}}\n", "", kWidth); }

 private:
  static double at(const std::vector<uint64_t>& values, size_t i) {
    return i < values.size() ? static_cast<double>(values[i]) : 0;
  }
  static double value(const SchedstatDomainField& field, const std::vector<uint64_t>& values) {
    using enum SchedstatDomainField::Kind;
    if (field.kind == kSum || field.kind == kEvent) return at(values, field.index);
    // Attempts, balanced and failed ones are adjacent.
    double successes =
        at(values, field.index) - at(values, field.index + 1) - at(values, field.index + 2);
    return field.kind == kSuccesses ? successes : ratio(at(values, field.gained), successes);
  }
  void category(std::string_view text) {
    size_t left = (kWidth - text.size()) / 2;
    out_.print("{:-<{}}{}{:-<{}}\n", "", left, text, "", kWidth - left - text.size());
  }
  void label(std::string_view text) { out_.print("{:<65}:", text); }
  void columns(std::string_view others) {
    if (has_two_)
      out_.print("{:<65} {:>12}{:>12}{}\n", "DESC", "COUNT1", "COUNT2", others);
    else
      out_.print("{:<65} {:>12}{}\n", "DESC", "COUNT", others);
  }
  void counts(double first, double second, int places) {
    out_.print(" {:11.{}f}", first, places);
    if (has_two_) out_.print(",{:11.{}f}", second, places);
  }
  void change(double first, double second) {
    if (has_two_) out_.print("  |{:9.2f}% |", 100 * ratio(second - first, first));
  }
  void percents(double first, double second) {
    if (has_two_)
      out_.print("  ({:9.2f}%,{:10.2f}% )", first, second);
    else
      out_.print("  ({:9.2f}% )", first);
  }
  void intervals(double first, double second) {
    if (has_two_)
      out_.print("  ${:12.2f},{:12.2f} $", first, second);
    else
      out_.print("  ${:12.2f} $", first);
  }

  Sink& out_;
  bool descriptions_, has_two_;
  double jiffies_[2];
};

constexpr std::string_view kAllCpus = "<ALL CPUS SUMMARY>";

void write_place(Table& table, std::string_view title, const SchedstatCpu& cpu,
                 std::span<const SchedstatDomainField> fields) {
  table.cpu(title, {cpu.values});
  for (const SchedstatDomain& domain : cpu.domains)
    table.domain(title, domain, {domain.values}, fields);
  table.rule();
}

}  // namespace

void write_schedstat(Sink& out, const Schedstat& counted, const SchedstatTableOptions& options) {
  Schedstat shown = counted;
  if (options.shows_cpu)
    std::erase_if(shown.cpus, [&](const SchedstatCpu& cpu) { return !options.shows_cpu(cpu.cpu); });
  std::vector<SchedstatDomainField> fields = schedstat_domain_fields(counted.version);
  Table table(out, options.descriptions, static_cast<double>(counted.jiffies), std::nullopt);
  table.head();
  if (shown.cpus.empty()) return;
  write_place(table, kAllCpus, schedstat_average(shown), fields);
  for (const SchedstatCpu& cpu : shown.cpus)
    write_place(table, fmt::format("{}", cpu.cpu), cpu, fields);
}

void write_schedstat_diff(Sink& out, const Schedstat& first, const Schedstat& second,
                          const SchedstatTableOptions& options) {
  std::vector<SchedstatDomainField> fields = schedstat_domain_fields(first.version);
  SchedstatCpu one = schedstat_average(first), two = schedstat_average(second);
  Table table(out, options.descriptions, static_cast<double>(first.jiffies),
              static_cast<double>(second.jiffies));
  table.head();
  table.cpu(kAllCpus, {one.values, &two.values});
  for (const SchedstatDomain& domain : one.domains)
    for (const SchedstatDomain& its : two.domains)
      if (its.level == domain.level)
        table.domain(kAllCpus, domain, {domain.values, &its.values}, fields);
  table.rule();
}

}  // namespace sonde
