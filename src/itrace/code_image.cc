#include "itrace/code_image.h"

#include <algorithm>
#include <cstring>

namespace sonde::itrace {

const CodeImage::CodeFile& CodeImage::file_of(DsoId dso) {
  auto [entry, added] = files_.try_emplace(dso.value);
  if (added) {
    entry.value() = std::make_unique<CodeFile>();
    CodeFile& code = *entry.value();
    const Dso& object = machine_.dsos()[dso];
    if (object.kind == DsoKind::kFile && !object.is_kernel_side) {
      FoundObject found = finder_.find(query_of(object));
      if (found.usable()) code.path = found.runtime_path;
      if (!code.path.empty())
        if (auto file = MappedFile::open(code.path)) code.file = std::move(*file);
    }
  }
  return *entry->second;
}

/// Sets code_ to what is mapped around the address.
void CodeImage::look_up(uint32_t pid, uint64_t time_ns, uint64_t address) {
  bool same_process = pid == pid_ && time_ns >= space_.valid_from && time_ns < space_.valid_to;
  if (!same_process) {
    pid_ = pid;
    space_ = machine_.space_at(pid, time_ns);
  }
  bool same_place = same_process && time_ns >= found_.valid_from && time_ns < found_.valid_to &&
                    address >= found_.start.value && address < found_.end.value;
  if (same_place) return;
  code_ = {};
  found_ = {};
  if (!space_.space.valid()) return;
  found_ = machine_.space(space_.space).find(RuntimeAddr(address), time_ns);
  if (!found_.mapping.valid()) return;
  const Mapping& mapping = machine_.mapping(found_.mapping);
  file_ = &file_of(mapping.dso);
  Bytes file = file_->file.bytes();
  uint64_t from = mapping.to_object(found_.start);
  uint64_t size = found_.end.value - found_.start.value;
  if (!mapping.identity && from < file.size())
    code_ = file.subspan(from, std::min<uint64_t>(size, file.size() - from));
}

size_t CodeImage::read(uint32_t pid, uint64_t time_ns, uint64_t address, std::span<std::byte> to) {
  if (static_cast<int64_t>(address) < 0) return 0;  // the kernel's
  look_up(pid, time_ns, address);
  uint64_t at = address - found_.start.value;
  if (at >= code_.size()) return 0;
  size_t count = std::min<size_t>(to.size(), code_.size() - at);
  std::memcpy(to.data(), code_.data() + at, count);
  return count;
}

std::optional<pt::CodeReader::FilePart> CodeImage::file_part(uint32_t pid, uint64_t time_ns,
                                                             uint64_t address) {
  if (static_cast<int64_t>(address) < 0) return {};
  look_up(pid, time_ns, address);
  if (address - found_.start.value >= code_.size()) return {};
  return pt::CodeReader::FilePart{file_->path,
                                  static_cast<uint64_t>(code_.data() - file_->file.bytes().data()),
                                  code_.size(), found_.start.value};
}

std::pair<uint64_t, uint64_t> CodeImage::valid() const {
  return {std::max(space_.valid_from, found_.valid_from),
          std::min(space_.valid_to, found_.valid_to)};
}

}  // namespace sonde::itrace
