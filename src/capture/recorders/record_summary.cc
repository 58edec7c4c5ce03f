#include "capture/recorders/record_summary.h"

#include <fmt/format.h>

namespace sonde {

std::string summary_line(std::string_view tool, const RecordSummary& summary) {
  constexpr double kMegabyte = 1024.0 * 1024.0;
  std::string compressed;
  if (auto [in, out] = summary.compression_in_out; out > 0)
    compressed = fmt::format(", compressed (original {:.3f} MB, ratio is {:.3f})",
                             static_cast<double>(in) / kMegabyte,
                             static_cast<double>(in) / static_cast<double>(out));
  std::string count = summary.samples == 0 ? "" : fmt::format(" ({} samples)", summary.samples);
  return fmt::format("[ {} record: Captured and wrote {:.3f} MB {}{}{} ]", tool,
                     static_cast<double>(summary.bytes) / kMegabyte, summary.file, compressed,
                     count);
}

}  // namespace sonde
