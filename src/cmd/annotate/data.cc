#include "cmd/annotate/data.h"

#include "datatype/type_profile.h"
#include "render/data_layout_text.h"

namespace sonde::annotation {
namespace {

/// "page" and "struct page" mean the same.
bool is_named(std::string_view type, std::string_view wanted) {
  if (wanted.empty() || type == wanted) return true;
  size_t blank = type.find(' ');
  bool has_keyword = type.starts_with("struct ") || type.starts_with("class ") ||
                     type.starts_with("union ") || type.starts_with("enum ");
  return has_keyword && type.substr(blank + 1) == wanted;
}

bool is_below(const Options& options, const view::DataLayout& layout, uint64_t all) {
  if (options.percent_limit <= 0 || all == 0) return false;
  double part = static_cast<double>(layout.totals[0].period);
  return 100.0 * part / static_cast<double>(all) < options.percent_limit;
}

}  // namespace

Result<int> annotate_data(const Session& session, const Options& options,
                          const std::vector<std::vector<EventId>>& columns,
                          const std::function<bool(const Frame&)>& wanted, Env& env) {
  datatype::SessionTypes types(session);
  datatype::TypeProfile profile(session, types, wanted);
  bool color = options.color == "always" || (options.color == "auto" && env.out.is_terminal());
  size_t written = 0;
  for (const std::vector<EventId>& events : columns) {
    if (options.type_counts) render::write_data_type_counts(env.out, profile.counts(events[0]));
    if (options.instruction_counts)
      render::write_instruction_counts(env.out, profile.instructions(events[0]));
    auto named = [&](std::string_view type) { return is_named(type, *options.data_type); };
    for (const view::DataLayout& layout : profile.layouts(events, named)) {
      if (is_below(options, layout, profile.period(events[0]))) continue;
      render::write_data_layout(env.out, layout, options.column, color);
      ++written;
      if (env.out.failed() != 0) return 0;
    }
  }
  if (options.quiet) return 0;
  for (const std::string& note : types.notes()) env.err.print("{}\n", note);
  if (written == 0)
    env.err.print("{}: no sample is known to access {}; --type-stat shows what is missing\n",
                  options.input,
                  options.data_type->empty() ? "data of any type" : *options.data_type);
  return 0;
}

}  // namespace sonde::annotation
