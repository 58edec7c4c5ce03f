#include "report/heading.h"

#include "analysis/sampling/sampling_gaps.h"
#include "render/short_count.h"

namespace sonde::report {

std::string samples_line(const EventReport& table, const ReportOptions& options) {
  std::string line =
      fmt::format("Samples: {} of event{} '{}'", render::short_count(table.samples),
                  table.members.size() > 1 || table.was_joined ? "s" : "", table.name);
  if (options.reference_graphs && table.name.find("call-graph=no") != std::string::npos)
    line += ", show reference callgraph";
  if (!options.time.empty()) line += fmt::format(" (time slices: {})", options.time);
  return line;
}

std::string count_line(const EventReport& table, const ReportOptions& options) {
  return options.memory_mode ? fmt::format("Total weight : {}", table.period)
                             : fmt::format("Event count (approx.): {}", table.period);
}

void write_gaps(Sink& out, const Session& session) {
  std::vector<std::string> gaps = sampling_gaps(session);
  for (const std::string& gap : gaps) out.print("# {}\n", gap);
  if (!gaps.empty()) out.write("#\n");
}

void write_heading(Sink& out, const EventReport& table, const ReportOptions& options,
                   const Plan& plan) {
  out.print("# {}\n# {}", samples_line(table, options), count_line(table, options));
  if (options.memory_mode && !plan.sort_words.empty())
    out.print("\n# Sort order   : {}", plan.sort_words);
  if (options.socket >= 0) out.print("\n# Processor Socket: {}", options.socket);
  out.write("\n#\n");
}

}  // namespace sonde::report
