// The flags of `record` that control how records get from the rings to which files.
#include <unistd.h>

#include "base/text.h"
#include "capture/control/delay_schedule.h"
#include "capture/opening/parse_size.h"
#include "capture/rings/ring_set.h"
#include "cmd/record/flags.h"

namespace sonde {

Result<size_t> RecordFlags::take_pages(std::string_view text) {
  bool rounded = false;
  size_t pages = TRY(parse_ring_pages(text, rounded));
  if (rounded) {
    auto bytes = pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    if (!rounding_.empty()) rounding_ += '\n';
    rounding_ +=
        bytes >= 1 << 20
            ? fmt::format("rounding mmap pages size to {}M ({} pages)", bytes >> 20, pages)
            : fmt::format("rounding mmap pages size to {}K ({} pages)", bytes >> 10, pages);
  }
  return pages;
}

void RecordFlags::declare_buffers(FlagTable& flags) {
  flags.call('m', "mmap-pages", "pages[,pages]",
             "number of mmap data pages and AUX area tracing mmap pages",
             [this](std::string_view text) -> Result<> {
               size_t comma = std::min(text.find(','), text.size());
               if (comma > 0) options_.ring_pages = TRY(take_pages(text.substr(0, comma)));
               if (comma + 1 < text.size())
                 options_.trace.area_pages = TRY(take_pages(text.substr(comma + 1)));
               return {};
             });
  flags.boolean(0, "overwrite", options_.sampling.overwrite, "use overwrite mode");
  flags.boolean(0, "no-buffering", options_.sampling.no_buffering,
                "collect data without buffering");
  flags.call(0, "mmap-flush", "number",
             "Minimal number of bytes that is extracted from mmap data pages (default: 1)",
             [this](std::string_view text) -> Result<> {
               std::optional<uint64_t> bytes = parse_number(text);
               if (!bytes) bytes = parse_size(text);
               if (!bytes || *bytes == 0) return fail(ErrorCode::kUsage, "expects a size");
               options_.output.flush_bytes = *bytes;
               return {};
             });
  flags
      .call(0, "aio", "n",
            "Use <n> control blocks in asynchronous trace writing mode (default: 1, max: 4)",
            [this](std::string_view text) -> Result<> {
              constexpr uint64_t kMax = 4;
              std::optional<uint64_t> blocks = parse_number(text);
              if (!blocks || *blocks == 0)
                return fail(ErrorCode::kUsage, "expects a number from 1 to {}", kMax);
              options_.output.aio_blocks = static_cast<uint32_t>(std::min(*blocks, kMax));
              return {};
            })
      .when_bare("1");
  flags
      .call(0, "threads", "spec",
            "write collected trace data into several data files using parallel threads",
            [this](std::string_view spec) -> Result<> {
              options_.output.threads = std::string(spec);
              return {};
            })
      .when_bare("");
  flags.call(0, "affinity", "node|cpu",
             "Set affinity mask of trace reading thread to NUMA node cpu mask or cpu of processed "
             "mmap buffer",
             [this](std::string_view text) -> Result<> {
               if (text != "node" && text != "cpu")
                 return fail(ErrorCode::kUsage, "expects 'node' or 'cpu'");
               options_.affinity = text == "node" ? Affinity::kNode : Affinity::kCpu;
               return {};
             });
  flags.number('r', "realtime", options_.realtime_priority, "n",
               "collect data with this RT SCHED_FIFO priority");
}

void RecordFlags::declare_output(FlagTable& flags) {
  OutputOptions& output = options_.output;
  flags.text('o', "output", output.path, "file", "output file name");
  flags
      .call('z', "compression-level", "n",
            "Compress records using specified level (default: 1 - fastest compression, 22 - "
            "greatest compression)",
            [this](std::string_view text) -> Result<> {
              constexpr uint64_t kMax = 22;
              std::optional<uint64_t> level = parse_number(text);
              if (!level) return fail(ErrorCode::kUsage, "expects a level from 0 to {}", kMax);
              compression_level_ = static_cast<int>(std::min(*level, kMax));
              return {};
            })
      .when_bare("1")
      .on_negation([this] { compression_level_ = 0; });
  flags
      .call(0, "bundle", "file",
            "at the end, pack the recording and the objects that it needs into one file that opens "
            "on any machine (default: the output's name with .bundle)",
            [this](std::string_view file) -> Result<> {
              bundle_ = file;
              return {};
            })
      .when_bare(".bundle");
  flags.boolean(0, "kcore", output.kernel_copy, "copy /proc/kcore");
  flags.call(0, "max-size", "size", "Limit the maximum size of the output file",
             [&output](std::string_view text) -> Result<> {
               std::optional<uint64_t> bytes = parse_size(text);
               if (!bytes || *bytes == 0)
                 return fail(ErrorCode::kUsage, "expects a size with unit B, K, M or G");
               output.max_size_bytes = *bytes;
               return {};
             });
  flags.boolean(0, "timestamp-filename", output.timestamp_name,
                "append timestamp to output filename");
  flags.boolean(0, "timestamp-boundary", output.timestamp_boundary,
                "Record timestamp boundary (time of first/last samples)");
  flags
      .call(0, "switch-output", "signal or size[BKMG] or time[smhd]",
            "Switch output when receiving SIGUSR2 (signal) or cross a size or time threshold",
            [this](std::string_view text) { return set_switch_output(text); })
      .when_bare("signal");
  flags.number(0, "switch-max-files", options_.switch_output.max_files, "n",
               "Limit number of switch output generated files");
  flags.boolean('B', "no-buildid", no_buildid_, "do not collect buildids in perf.data");
  flags.boolean('N', "no-buildid-cache", no_buildid_cache_, "do not update the buildid cache");
  flags
      .call(0, "debuginfod", "debuginfod urls",
            "Keep what debuginfod servers (DEBUGINFOD_URLS or these) have for the objects of the "
            "recording in the buildid cache",
            [this](std::string_view urls) -> Result<> {
              debuginfod_ = urls;
              return {};
            })
      .when_bare("");
  flags.boolean(0, "buildid-all", options_.build_ids.all,
                "Record build-id of all DSOs regardless of hits");
  flags.boolean(0, "buildid-mmap", options_.sampling.buildid_mmap, "Record build-id in map events");
}

Result<> RecordFlags::set_switch_output(std::string_view text) {
  SwitchOutputOptions& switching = options_.switch_output;
  switching.enabled = true;
  if (text == "signal") {
    switching.on_signal = true;
  } else if (std::optional<uint64_t> bytes = parse_size(text); bytes && text.back() != 'm') {
    switching.size_bytes = *bytes;
  } else if (std::optional<uint64_t> ms = parse_duration_ms(text)) {
    switching.time_ms = *ms;
  } else {
    return fail(
        ErrorCode::kUsage,
        "expects 'signal', a size with unit B, K, M or G, or a time with unit s, m, h or d");
  }
  return {};
}

}  // namespace sonde
