#include "itrace/code_image.h"

#include <algorithm>
#include <cstring>

namespace sonde::itrace {

const MappedFile& CodeImage::file_of(DsoId dso) {
  auto [entry, added] = files_.try_emplace(dso.value);
  if (added) {
    entry.value() = std::make_unique<MappedFile>();
    const Dso& object = machine_.dsos()[dso];
    if (object.kind == DsoKind::kFile && !object.is_kernel_side) {
      FoundObject found = finder_.find(query_of(object));
      if (found.usable() && !found.runtime_path.empty())
        if (auto file = MappedFile::open(found.runtime_path)) *entry.value() = std::move(*file);
    }
  }
  return *entry->second;
}

size_t CodeImage::read(uint32_t pid, uint64_t time_ns, uint64_t address, std::span<std::byte> to) {
  if (static_cast<int64_t>(address) < 0) return 0;  // the kernel's
  bool same_process = pid == pid_ && time_ns >= space_.valid_from && time_ns < space_.valid_to;
  if (!same_process) {
    pid_ = pid;
    space_ = machine_.space_at(pid, time_ns);
  }
  if (!space_.space.valid()) return 0;
  bool same_place = same_process && time_ns >= found_.valid_from && time_ns < found_.valid_to &&
                    address >= found_.start.value && address < found_.end.value;
  if (!same_place) {
    code_ = {};
    found_ = machine_.space(space_.space).find(RuntimeAddr(address), time_ns);
    if (found_.mapping.valid()) {
      const Mapping& mapping = machine_.mapping(found_.mapping);
      Bytes file = file_of(mapping.dso).bytes();
      uint64_t from = mapping.to_object(found_.start);
      uint64_t size = found_.end.value - found_.start.value;
      if (!mapping.identity && from < file.size())
        code_ = file.subspan(from, std::min<uint64_t>(size, file.size() - from));
    }
  }
  uint64_t at = address - found_.start.value;
  if (at >= code_.size()) return 0;
  size_t count = std::min<size_t>(to.size(), code_.size() - at);
  std::memcpy(to.data(), code_.data() + at, count);
  return count;
}

}  // namespace sonde::itrace
