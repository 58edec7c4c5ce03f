#include "capture/recorders/record_output.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "capture/synthesis/kernel_copy.h"
#include "perfdata/write/recording_place.h"

namespace sonde {
namespace {

constexpr int64_t kTimestampStepNs = 10'000'000;  // unit of a timestamp's last two digits

}  // namespace

bool RecordOutput::is_pipe(const OutputOptions& output, int stdout_fd) {
  if (!output.path.empty()) return output.path == "-";
  struct stat status{};
  return stdout_fd >= 0 && ::fstat(stdout_fd, &status) == 0 && S_ISFIFO(status.st_mode);
}

std::string RecordOutput::path_of(const OutputOptions& output, int stdout_fd) {
  if (is_pipe(output, stdout_fd)) return "-";
  return output.path.empty() ? "perf.data" : output.path;
}

Result<> RecordOutput::check(const OutputOptions& output, int stdout_fd) {
  std::string path = path_of(output, stdout_fd);
  return path == "-" ? Result<>{} : check_recording_place(path);
}

Result<RecordOutput> RecordOutput::create(const Settings& settings) {
  RecordOutput output(settings);
  output.path_ = path_of(settings.output, settings.stdout_fd);
  TRY(output.open());
  return output;
}

Result<> RecordOutput::open() {
  WriterOptions options{.compression_level = settings_.output.compression_level,
                        .mmap_length = settings_.mmap_length,
                        .directory_streams = settings_.directory_streams,
                        .directory = settings_.output.kernel_copy,
                        .sys = settings_.sys};
  if (path_ == "-") {
    Fd copy(::dup(settings_.stdout_fd));
    if (!copy.valid())
      return fail(ErrorCode::kIo, "cannot write to standard output: {}", std::strerror(errno));
    writer_ = TRY(PerfDataWriter::pipe(std::move(copy), "standard output", options));
    return {};
  }
  TRY(keep_previous(path_));
  writer_ = TRY(PerfDataWriter::create(path_, options));
  if (settings_.output.kernel_copy) TRY(copy_kernel(path_ + "/kcore_dir"));
  return {};
}

std::string RecordOutput::shown_name() const {
  bool stamped = settings_.switching.enabled || settings_.output.timestamp_name;
  return stamped && path_ != "-" ? path_ + ".<timestamp>" : path_;
}

Result<std::string> RecordOutput::rename_finished() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  std::string name;
  std::error_code error;
  // Two files that end within the same hundredth of a second must not get the same name: the later
  // one takes the next free one.
  do {
    name = path_ + "." + file_timestamp(now_ns);
    now_ns += kTimestampStepNs;
  } while (std::filesystem::exists(std::filesystem::symlink_status(name, error)));
  std::filesystem::rename(path_, name, error);
  if (error)
    return fail(ErrorCode::kIo, "failed to rename {} to {}: {}", path_, name, error.message());
  finished_.push_back(name);
  uint32_t most = settings_.switching.max_files;
  if (most != 0 && finished_.size() > most) {
    (void)remove_recording(finished_.front());
    finished_.erase(finished_.begin());
  }
  return name;
}

Result<> RecordOutput::next() {
  writer_.reset();
  return open();
}

std::string file_timestamp(int64_t now_ns) {
  auto seconds = static_cast<time_t>(now_ns / 1'000'000'000);
  auto hundredths = now_ns % 1'000'000'000 / kTimestampStepNs;
  tm local{};
  ::localtime_r(&seconds, &local);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}{:02}", local.tm_year + 1900, local.tm_mon + 1,
                     local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec, hundredths);
}

}  // namespace sonde
