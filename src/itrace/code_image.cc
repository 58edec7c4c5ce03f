#include "itrace/code_image.h"

#include <algorithm>
#include <cstring>

namespace sonde::itrace {

Bytes generated_code(const JitObject& generated, uint64_t offset) {
  const std::vector<JitDump::Code>& codes = generated.dump().codes();  // in the order of the dump
  auto above = std::ranges::upper_bound(codes, offset, {}, &JitDump::Code::offset);
  if (above == codes.begin()) return {};
  const JitDump::Code& code = *std::prev(above);
  Bytes bytes = generated.dump().bytes_of(code);
  return bytes.subspan(std::min<uint64_t>(offset - code.offset, bytes.size()));
}

KernelCode::Sources CodeImage::kernel_sources(const Recording& recording,
                                              const CodeSources& sources) {
  const ObjectFinder& finder = sources.finder;
  return {[&finder, kallsyms = sources.kallsyms](const Dso& kernel) -> Result<KernelCore> {
            return KernelCore::find(
                kernel, {.kallsyms = kallsyms, .buildid_dir = finder.options().buildid_dir});
          },
          [&finder, &recording](DsoId, const Dso& kernel) {
            return finder.find_vmlinux(kernel.build_id,
                                       recording.features().os_release.value_or(""));
          }};
}

const FoundObject& CodeImage::object_of(DsoId dso) {
  auto [entry, added] = objects_.try_emplace(dso.value);
  if (added)
    entry.value() = std::make_unique<FoundObject>(finder_.find(query_of(machine_.dsos()[dso])));
  return *entry->second;
}

CodeImage::Code CodeImage::code_of(DsoId dso, uint64_t offset) {
  const Dso& object = machine_.dsos()[dso];
  if (object.kind == DsoKind::kJitDump) {
    const JitObject* generated = jit_ != nullptr ? jit_->of(dso) : nullptr;
    return generated != nullptr ? Code{generated_code(*generated, offset), {}, {}} : Code();
  }
  if ((object.kind != DsoKind::kFile && object.kind != DsoKind::kVdso) || object.is_kernel_side)
    return {};
  const FoundObject& found = object_of(dso);
  // What has only symbols is not what ran, but the object itself may have them.
  const auto& file = found.runtime ? found.runtime : found.symbols;
  if (!file || (!found.runtime && found.runtime_path.empty())) return {};
  Bytes all = file->bytes();
  return offset < all.size() ? Code{all.subspan(offset), all, found.runtime_path} : Code();
}

void CodeImage::look_up(uint32_t pid, uint64_t time_ns, uint64_t address) {
  bool same_process = pid == pid_ && time_ns >= space_.valid_from && time_ns < space_.valid_to;
  if (!same_process) {
    pid_ = pid;
    space_ = machine_.space_at(pid, time_ns);
  }
  bool same_place = same_process && time_ns >= found_.valid_from && time_ns < found_.valid_to &&
                    address >= found_.start.value && address < found_.end.value;
  if (!same_place) {
    code_ = {};
    found_ = {};
    if (space_.space.valid())
      found_ = machine_.space(space_.space).find(RuntimeAddr(address), time_ns);
    if (found_.mapping.valid()) {
      const Mapping& mapping = machine_.mapping(found_.mapping);
      uint64_t size = found_.end.value - found_.start.value;
      if (!mapping.identity) code_ = code_of(mapping.dso, mapping.to_object(found_.start));
      code_.bytes = code_.bytes.first(std::min<uint64_t>(size, code_.bytes.size()));
    }
  }
  valid_ = {std::max(space_.valid_from, found_.valid_from),
            std::min(space_.valid_to, found_.valid_to)};
}

size_t CodeImage::read(uint32_t pid, uint64_t time_ns, uint64_t address, std::span<std::byte> to) {
  if (is_kernel_address(address)) {
    size_t count = kernel_.read(time_ns, address, to);
    valid_ = kernel_.valid();
    return count;
  }
  look_up(pid, time_ns, address);
  uint64_t at = address - found_.start.value;
  if (at >= code_.bytes.size()) return 0;
  size_t count = std::min<size_t>(to.size(), code_.bytes.size() - at);
  std::memcpy(to.data(), code_.bytes.data() + at, count);
  return count;
}

DsoId CodeImage::missing_object(uint32_t pid, uint64_t time_ns, uint64_t address) {
  if (is_kernel_address(address)) return kernel_.missing_object(time_ns, address);
  look_up(pid, time_ns, address);
  if (!found_.mapping.valid() || !code_.bytes.empty()) return {};
  const Mapping& mapping = machine_.mapping(found_.mapping);
  bool is_here = !mapping.identity && !code_of(mapping.dso, 0).bytes.empty();
  return is_here ? DsoId() : mapping.dso;
}

std::optional<pt::CodeReader::FilePart> CodeImage::file_part(uint32_t pid, uint64_t time_ns,
                                                             uint64_t address) {
  if (is_kernel_address(address)) return {};
  look_up(pid, time_ns, address);
  if (code_.path.empty() || address - found_.start.value >= code_.bytes.size()) return {};
  return pt::CodeReader::FilePart{code_.path,
                                  static_cast<uint64_t>(code_.bytes.data() - code_.file.data()),
                                  code_.bytes.size(), found_.start.value};
}

}  // namespace sonde::itrace
