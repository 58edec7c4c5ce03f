#include "event/vendor/vendor_events.h"

#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "event/vendor/vendor_files.h"

namespace sonde {
namespace {

/// The largest published file has about 10 MB.
constexpr size_t kLargestVendorFile = size_t{64} << 20;
/// A tree of values takes several times the room of its text.
constexpr size_t kLargestVendorTotal = size_t{256} << 20;

std::string directory_of(const Env& env) {
  std::string directory(env.config.get("events.directory").value_or(""));
  if (directory.starts_with("~/"))
    directory = env.variable("HOME").value_or("") + directory.substr(1);
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  return directory;
}

/// A whole file; error if it is larger than the limit.
Result<std::string> read_whole(const std::string& path) {
  std::string text = TRY(read_file(path, kLargestVendorFile + 1));
  if (text.size() > kLargestVendorFile)
    return fail(ErrorCode::kCorrupt, "{}: more than {} MB, too large for a list of events", path,
                kLargestVendorFile >> 20);
  return text;
}

class VendorReader {
 public:
  VendorReader(const std::string& directory, CpuIdentity cpu)
      : directory_(directory), cpu_(std::move(cpu)) {}

  Result<VendorTables> run() {
    for (const VendorFile& file : TRY(files())) TRY(add(file));
    if (read_ == 0)
      return fail(ErrorCode::kNotFound, "{}: no file about this processor, {}; {}", directory_,
                  name_of_cpu(),
                  mapped_ ? "mapfile.csv has no line for it, or the files are missing"
                          : "events.directory must contain its vendor's JSON files");
    return std::move(tables_);
  }

 private:
  [[nodiscard]] std::string name_of_cpu() const {
    if (!cpu_.model.empty()) return fmt::format("{}-{}", cpu_.model, cpu_.stepping);
    return fmt::format("implementer {}, part {}", cpu_.arm_implementer, cpu_.arm_part);
  }

  Result<std::vector<VendorFile>> files() {
    if (::access(directory_.c_str(), R_OK | X_OK) != 0)
      return fail(ErrorCode::kNotFound, "{}: no such directory; set events.directory to another",
                  directory_);
    std::string map = directory_ + "/mapfile.csv";
    mapped_ = ::access(map.c_str(), F_OK) == 0;
    if (!mapped_) return json_files(directory_);
    return mapped_files(TRY(read_whole(map)), directory_, cpu_);
  }

  Result<> add(const VendorFile& file) {
    // Somebody who copied only the lists of events has no metrics.
    if (mapped_ && ::access(file.path.c_str(), F_OK) != 0) return {};
    std::string text = TRY(read_whole(file.path));
    total_ += text.size();
    if (total_ > kLargestVendorTotal)
      return fail(ErrorCode::kCorrupt, "{}: more than {} MB in all; remove other processors' files",
                  directory_, kLargestVendorTotal >> 20);
    // Some lists begin with a byte order mark.
    std::string_view json = text;
    if (json.starts_with("\xef\xbb\xbf")) json.remove_prefix(3);
    JsonValue root = TRY(JsonValue::parse(json, file.path));
    if (!is_about_part(root, cpu_.arm_implementer, cpu_.arm_part)) return {};
    ++read_;
    return add_vendor_json(root, file.path, {.pmu = file.core}, tables_);
  }

  const std::string& directory_;
  CpuIdentity cpu_;
  VendorTables tables_;
  bool mapped_ = false;
  size_t read_ = 0, total_ = 0;
};

}  // namespace

VendorEvents::VendorEvents(const Env& env) : VendorEvents(directory_of(env)) {}

Result<const VendorTables*> VendorEvents::tables() {
  if (!tables_ && directory_.empty()) tables_.emplace();
  if (!tables_) {
    std::string cpuinfo = read_file(cpuinfo_).value_or("");
    tables_.emplace(VendorReader(directory_, parse_cpu_identity(cpuinfo)).run());
    if (*tables_)
      for (size_t i = 0; i < (*tables_)->events.size(); ++i)
        by_name_.emplace(lower_case_of((*tables_)->events[i].alias.name), i);
  }
  if (!*tables_) return std::unexpected(tables_->error());
  return &**tables_;
}

Result<std::vector<const VendorEvent*>> VendorEvents::find(std::string_view name) {
  const VendorTables& all = *TRY(tables());
  std::vector<const VendorEvent*> found;
  auto [first, last] = by_name_.equal_range(lower_case_of(name));
  for (auto entry = first; entry != last; ++entry) {
    const VendorEvent& event = all.events[entry->second];
    // Of several definitions for a PMU the first counts.
    bool known = std::ranges::any_of(
        found, [&](const VendorEvent* other) { return other->pmu == event.pmu; });
    if (!known) found.push_back(&event);
  }
  return found;
}

std::vector<const Pmu*> vendor_pmus(const VendorEvent& event, PmuCatalog& pmus) {
  if (event.pmu.empty()) return pmus.core();
  std::vector<const Pmu*> found = pmus.matching(event.pmu);
  // A kind of core on a processor that has no other, as in some virtual machines.
  if (found.empty() && event.pmu.starts_with("cpu_") && pmus.find("cpu") != nullptr)
    return pmus.core();
  return found;
}

}  // namespace sonde
