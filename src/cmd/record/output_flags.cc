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
            ? fmt::format("-m: buffers have a power of two of pages: rounded up to {}M ({} pages)",
                          bytes >> 20, pages)
            : fmt::format("-m: buffers have a power of two of pages: rounded up to {}K ({} pages)",
                          bytes >> 10, pages);
  }
  return pages;
}

void RecordFlags::declare_buffers(FlagTable& flags) {
  flags.call('m', "mmap-pages", "pages[,pages]",
             "size of each buffer, in pages or with a unit (16M); behind the comma, of each "
             "instruction trace's",
             [this](std::string_view text) -> Result<> {
               size_t comma = std::min(text.find(','), text.size());
               if (comma > 0) options_.ring_pages = TRY(take_pages(text.substr(0, comma)));
               if (comma + 1 < text.size())
                 options_.trace.area_pages = TRY(take_pages(text.substr(comma + 1)));
               return {};
             });
  flags.boolean(0, "overwrite", options_.sampling.overwrite,
                "overwrite the oldest records in full buffers, which are written at the end, or "
                "when output switches");
  flags.boolean(0, "no-buffering", options_.sampling.no_buffering,
                "read each sample as soon as it was taken, instead of many at a time");
  flags.call(0, "mmap-flush", "number",
             "leave buffers with fewer bytes than this for later; with or without a unit, as in "
             "64K (default: 1)",
             [this](std::string_view text) -> Result<> {
               std::optional<uint64_t> bytes = parse_number(text);
               if (!bytes) bytes = parse_size(text);
               if (!bytes || *bytes == 0) return fail(ErrorCode::kUsage, "expects a size");
               options_.output.flush_bytes = *bytes;
               return {};
             });
  flags
      .call(0, "aio", "n",
            "go on reading buffers while the disk writes, up to n pieces at a time (at most 4; "
            "without a number: 1)",
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
            "a directory, with a file for each thread that reads: one per cpu (default), core, "
            "package, numa, or masks",
            [this](std::string_view spec) -> Result<> {
              options_.output.threads = std::string(spec);
              return {};
            })
      .when_bare("");
  flags.call(0, "affinity", "node|cpu",
             "read the buffer of a CPU on that CPU (cpu), or on its NUMA node (node)",
             [this](std::string_view text) -> Result<> {
               if (text != "node" && text != "cpu")
                 return fail(ErrorCode::kUsage, "expects 'node' or 'cpu'");
               options_.affinity = text == "node" ? Affinity::kNode : Affinity::kCpu;
               return {};
             });
  flags.number('r', "realtime", options_.realtime_priority, "n",
               "give the recorder this real-time priority (SCHED_FIFO)");
}

void RecordFlags::declare_output(FlagTable& flags) {
  OutputOptions& output = options_.output;
  flags.text('o', "output", output.path, "file",
             "write to this file (default: perf.data); - is standard output");
  flags
      .call('z', "compression-level", "n",
            "compress records with zstd: from 1, the fastest, to 22, the smallest (without a "
            "number: 1; 0: not)",
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
  flags.boolean(
      0, "kcore", output.kernel_copy,
      "also keep the code, symbols and modules of this kernel; the output is a directory then");
  flags.call(0, "max-size", "size",
             "end the recording when it has grown to this size: a number with B, K, M or G",
             [&output](std::string_view text) -> Result<> {
               std::optional<uint64_t> bytes = parse_size(text);
               if (!bytes || *bytes == 0)
                 return fail(ErrorCode::kUsage, "expects a size with unit B, K, M or G");
               output.max_size_bytes = *bytes;
               return {};
             });
  flags.boolean(0, "timestamp-filename", output.timestamp_name,
                "append the time to the name of the output file, when it is complete");
  flags
      .act(0, "timestamp-boundary",
           "no effect: the times of the first and the last sample are always kept",
           [] { return Result<>(); })
      .on_negation([] {})
      .without_effect("the times of the first and the last sample are always kept");
  flags
      .call(0, "switch-output", "signal or size[BKMG] or time[smhd]",
            "begin a new output file on SIGUSR2 (default), at this size, or after this time",
            [this](std::string_view text) { return set_switch_output(text); })
      .when_bare("signal");
  flags.number(0, "switch-max-files", options_.switch_output.max_files, "n",
               "keep only the newest n files of --switch-output (default: all)");
  flags.boolean('B', "no-buildid", no_buildid_,
                "do not keep the build ids of the objects that samples fell on");
  flags.boolean('N', "no-buildid-cache", no_buildid_cache_,
                "do not add the objects that samples fell on to the build-id cache");
  flags
      .call(0, "debuginfod", "debuginfod urls",
            "add to the build-id cache what debuginfod servers (DEBUGINFOD_URLS or these) have of "
            "the recording's objects",
            [this](std::string_view urls) -> Result<> {
              debuginfod_ = urls;
              return {};
            })
      .when_bare("");
  flags.boolean(
      0, "buildid-all", options_.build_ids.all,
      "keep the build ids of all objects that were mapped, not only of those that samples fell on");
  flags.boolean(
      0, "buildid-mmap", options_.sampling.buildid_mmap,
      "have the kernel note build ids in the records of mappings; none are looked up at the end");
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
