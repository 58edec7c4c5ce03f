#include "stat/output.h"

#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/output/overwriting.h"
#include "stat/root_port_writer.h"

namespace sonde {
namespace {

/// The thousands separator of the user's locale.
std::string thousands_separator() {
  locale_t locale = ::newlocale(LC_NUMERIC_MASK, "", locale_t{});
  if (locale == locale_t{}) return {};
  std::string separator = ::nl_langinfo_l(THOUSEP, locale);
  ::freelocale(locale);
  return separator;
}

/// "Sat Nov 21 14:55:49 2026"
std::string time_of_day() {
  time_t now = ::time(nullptr);
  tm local{};
  ::localtime_r(&now, &local);
  char text[64];
  return {text, ::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &local)};
}

/// Discards everything: --quiet.
class NullSink final : public Sink {
 protected:
  void emit(std::string_view /*text*/) override {}
};

}  // namespace

Result<StatOutput> StatOutput::open(const StatOptions& options, Env& env, bool recording) {
  StatOutput output;
  output.shared_ = &env.err;
  if (options.count.quiet) {
    output.own_ = std::make_unique<NullSink>();
    return output;
  }
  int fd = -1;
  if (options.log_fd) {
    fd = *options.log_fd;
    if (::fcntl(fd, F_GETFD) < 0)
      return fail(ErrorCode::kFailed, "Failed opening logfd: {}", std::strerror(errno));
  } else if (!recording && !options.output.empty() && options.output != "-") {
    auto file = options.append ? append_to(options.output, 0666) : overwrite(options.output, 0666);
    if (!file)
      return fail(ErrorCode::kFailed, "failed to create output file: {}: {}", options.output,
                  file.error());
    output.file_ = std::move(*file);
    fd = output.file_.get();
  }
  if (fd < 0) return output;
  output.own_ = std::make_unique<FdSink>(fd);
  if (output.file_.valid() && options.json == 0 && !options.markdown)
    output.own_->print("# started on {}\n\n", time_of_day());
  return output;
}

std::unique_ptr<render::CountWriter> make_stat_writer(const StatOptions& options,
                                                      view::CountGrouping grouping, bool intervals,
                                                      Sink& out) {
  using Format = render::CountStyle::Format;
  render::CountStyle style;
  style.format = options.json == 2   ? Format::kJson2
                 : options.json == 1 ? Format::kJson
                 : options.separator ? Format::kCsv
                                     : Format::kText;
  style.grouping = grouping;
  style.separator = options.separator.value_or("");
  if (options.big_num && style.format == Format::kText) style.thousands = thousands_separator();
  style.color = out.is_terminal();
  style.metric_only = options.metric_only;
  style.intervals = intervals;
  style.clear_screen = options.interval_clear;
  style.several_runs = options.runs > 1;
  style.run_table = options.run_table;
  style.csv_summary_column = options.csv_summary_column;
  style.quotes_formulas = options.quotes_formulas;
  auto writer = render::make_count_writer(style, out);
  if (options.root_ports.empty()) return writer;
  return make_root_port_writer(options.root_ports, options.separator, std::move(writer), out);
}

}  // namespace sonde
