#include "perfdata/read/file_opening.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "base/files/regular_file.h"

#include "perfdata/header/early_sections.h"

namespace sonde {
namespace {

Result<> check_owner(const struct stat& status, const std::string& path) {
  if (status.st_uid == 0 || status.st_uid == ::geteuid()) return {};
  return fail(ErrorCode::kPermission,
              "File {} not owned by current user or root (use -f to override)", path);
}

void read_feature_sections(const std::vector<FeatureTable::Entry>& entries, Bytes file,
                           ByteOrder order, SetupCollector& setup, LossLedger& losses) {
  for (const FeatureTable::Entry& entry : entries) {
    auto [offset, size] = entry.section;
    bool inside = offset <= file.size() && size <= file.size() - offset;
    if (inside)
      setup.add_feature(entry.bit, file.subspan(offset, size), order);
    else
      losses.add(LossKind::k_bad_feature, 1, abi::feature_name(entry.bit));
  }
}

/// The names of recordings that commands look for if none is given. Where anybody can create files,
/// they may lead to anything.
bool is_usual_name(std::string_view path) {
  constexpr std::string_view kUsual[] = {"perf.data", "perf.data.old", "perf.data.guest",
                                         "perf.data.host", "perf.data.kvm"};
  return std::ranges::find(kUsual, path) != std::end(kUsual);
}

}  // namespace

Result<OpenedFile> open_recording_file(const std::string& path, bool force, bool is_named) {
  Result<Fd> fd = is_named && !is_usual_name(path) ? open_stream(path) : open_regular(path);
  if (!fd) {
    Error error = std::move(fd).error();
    if (error.message.ends_with(std::strerror(ENOENT)))
      error.message += "  (try 'perf record' first)";
    else if (error.code != ErrorCode::kCorrupt)
      error.code = ErrorCode::kPermission;
    return std::unexpected(std::move(error));
  }
  OpenedFile opened{.fd = std::move(*fd)};
  if (::fstat(opened.fd.get(), &opened.status) != 0)
    return fail(ErrorCode::kIo, "failed to open {}: {}", path, std::strerror(errno));
  if (S_ISREG(opened.status.st_mode) && !force) TRY(check_owner(opened.status, path));
  return opened;
}

FileData read_around_records(const FileHeader& header, Bytes file, EventTable& events,
                             SetupCollector& setup, FileFacts& facts, LossLedger& losses) {
  read_attrs(header, file, events, losses);
  read_event_types(header, file, setup);

  FileData data;
  data.begin = std::min<uint64_t>(header.data.offset, file.size());
  uint64_t in_file = file.size() - data.begin;
  data.size = std::min<uint64_t>(header.data.size, in_file);
  data.missing = header.data.size - data.size;
  FeatureTable table = read_feature_table(header, file, data.begin + data.size);
  // perf writes the size when it ends. Without the size there are no features either: the bytes in
  // their place do not form a feature table, or the table would be empty and yet bytes follow. We
  // write a size from time to time, but name the features when we end.
  std::vector<FeatureTable::Entry> early = read_early_sections(header, file);
  bool has_table = table.plausible && (!table.entries.empty() || in_file == 0);
  bool has_begun = table.entries.empty() && !early.empty();
  facts.recorder_crashed = has_begun || (header.data.size == 0 && !has_table);
  if (facts.recorder_crashed) {
    data.size = in_file;
    losses.add(LossKind::k_unfinished_file, 1,
               has_begun ? "the file header names no sections"
                         : "the file header has no size of its data");
  }
  data.is_complete = !facts.recorder_crashed && data.missing == 0;

  facts.data_offset = data.begin;
  facts.data_size = data.size;
  facts.feature_offset = data.begin + data.size;
  read_feature_sections(data.is_complete ? table.entries : early, file, header.order, setup,
                        losses);
  if (data.missing != 0) {
    std::erase_if(table.entries, [&](const FeatureTable::Entry& entry) {
      return std::ranges::find(early, entry.bit, &FeatureTable::Entry::bit) != early.end();
    });
    losses.add(LossKind::k_bad_feature, table.entries.size(), "they follow what was cut off");
  }
  return data;
}

}  // namespace sonde
