#include "symbol/kernel_core.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "elf/build_id.h"
#include "symbol/kallsyms.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

/// CACHE/[kernel.kcore]/BUILD-ID/TIME, newest first.
std::vector<std::string> copies_in_cache(const std::string& cache, std::string_view build_id) {
  std::vector<std::string> copies;
  if (cache.empty() || build_id.empty()) return copies;
  std::error_code error;
  fs::path directory = fs::path(cache) / "[kernel.kcore]" / to_hex(build_id);
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    copies.push_back(entry.path());
  std::ranges::sort(copies, std::ranges::greater());
  return copies;
}

std::vector<std::string> directories(const Dso& kernel, const KernelCore::Query& query) {
  std::vector<std::string> places;
  fs::path beside = fs::path(query.kallsyms).replace_filename("kcore");
  std::error_code error;
  if (!query.kallsyms.empty() && fs::exists(beside, error))
    places.push_back(fs::absolute(beside, error).parent_path());
  for (std::string& copy : copies_in_cache(query.buildid_dir, kernel.build_id))
    places.push_back(std::move(copy));
  if (!kernel.build_id.empty() && same_build_id(kernel.build_id, running_kernel_build_id()))
    places.push_back(query.proc);
  return places;
}

}  // namespace

Result<KernelCore> KernelCore::find(const Dso& kernel, const Query& query) {
  std::string why = "the recording is of another kernel";
  for (const std::string& directory : directories(kernel, query)) {
    auto core = open(kernel, directory);
    if (core) return core;
    why = core.error().message;
  }
  return fail(
      ErrorCode::kNotFound,
      "the kernel's code is not here ({}): name its vmlinux with -k, or record with --kcore", why);
}

Result<KernelCore> KernelCore::open(const Dso& kernel, const std::string& directory) {
  std::string path = directory + "/kcore";
  CoreFile file = TRY(CoreFile::open(path));
  Kallsyms symbols = TRY(Kallsyms::open(directory + "/kallsyms"));
  auto address = symbols.address_of(kernel.reference_symbol);
  if (!address || *address == 0 || kernel.reference_address.value == 0)
    return fail(ErrorCode::kNotFound, "{}/kallsyms does not tell where the kernel is", directory);
  return KernelCore(std::move(path), std::move(file), *address - kernel.reference_address.value);
}

Result<std::vector<std::byte>> KernelCore::code(uint64_t address, uint64_t size,
                                                bool of_module) const {
  if (of_module && slide_ != 0)
    return fail(ErrorCode::kNotFound, "{} is from another boot, in which modules are elsewhere",
                path_);
  auto bytes = file_.memory(address + slide_, size);
  if (!bytes) return fail(ErrorCode::kNotFound, "{} does not have address {:#x}", path_, address);
  return std::move(*bytes);
}

}  // namespace sonde
