#include "stepping/code_image.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "base/files/regular_file.h"
#include "disasm/disassembler.h"
#include "store/proc_maps.h"

namespace sonde {
namespace {

std::vector<CodeMapping> read_mappings(pid_t pid) {
  std::vector<CodeMapping> mappings;
  Result<std::string> text = read_file(fmt::format("/proc/{}/maps", pid));
  if (!text) return mappings;
  std::string_view rest = *text;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::optional<ProcMapping> found = parse_proc_mapping(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (!found || !found->executable) continue;
    mappings.push_back({.start = found->start,
                        .end = found->end,
                        .offset = found->offset,
                        .inode = found->inode,
                        .major = found->major,
                        .minor = found->minor,
                        .readable = found->readable,
                        .writable = found->writable,
                        .shared = found->shared,
                        .path = std::string(found->path)});
  }
  return mappings;
}

std::unexpected<Error> refuse_code(uint64_t ip, std::string_view why) {
  return fail(ErrorCode::kUnsupported,
              "sonde_step//: code at {:#x} {}, so its trace could not be decoded: record this "
              "program with -e cpu-clock",
              ip, why);
}

}  // namespace

Result<StepInstruction> CodeImage::at(uint64_t ip) {
  uint64_t number = ip >> kPageBits;
  if (number != last_number_) {
    auto found = pages_.find(number);
    last_page_ = found != pages_.end() ? found->second.get() : TRY(load(number));
    last_number_ = number;
  }
  uint64_t offset = ip % kPageSize;
  StepInstruction& instruction = last_page_->instructions[offset];
  if (instruction.length == 0)
    instruction = classify_step(Bytes(last_page_->bytes).subspan(offset), ip);
  return instruction;
}

std::vector<CodeMapping> CodeImage::reload() {
  std::vector<CodeMapping> before = std::exchange(mappings_, read_mappings(pid_));
  pages_.clear();
  last_number_ = UINT64_MAX;
  std::vector<CodeMapping> added;
  for (const CodeMapping& mapping : mappings_)
    if (std::ranges::find(before, mapping) == before.end()) added.push_back(mapping);
  return added;
}

const CodeMapping* CodeImage::find(uint64_t ip) const {
  for (const CodeMapping& mapping : mappings_)
    if (mapping.start <= ip && ip < mapping.end) return &mapping;
  return nullptr;
}

std::vector<std::byte> CodeImage::read_memory(uint64_t start, size_t size) {
  if (!memory_.valid())
    memory_ = Fd(::open(fmt::format("/proc/{}/mem", pid_).c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::byte> bytes(size);
  ssize_t got = ::pread(memory_.get(), bytes.data(), size, static_cast<off_t>(start));
  bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return bytes;
}

Result<CodeImage::Page*> CodeImage::load(uint64_t number) {
  uint64_t start = number << kPageBits;
  const CodeMapping* mapping = find(start);
  if (mapping == nullptr)
    return fail(ErrorCode::kNotFound, "there is no code at {:#x} in process {}", start, pid_);
  auto page = std::make_unique<Page>();
  // An instruction may continue on the next page.
  page->bytes = read_memory(start, kPageSize + disasm::kMaxX86InstructionLength);
  if (page->bytes.size() < kPageSize) page->bytes = read_memory(start, kPageSize);
  if (page->bytes.size() < kPageSize) return refuse_code(start, "cannot be read");
  TRY(check_unchanged(*mapping, start, *page));
  return pages_.emplace(number, std::move(page)).first->second.get();
}

/// Breakpoints that the kernel or a debugger has put into the code do not count as changes.
Result<> CodeImage::check_unchanged(const CodeMapping& mapping, uint64_t start, Page& page) const {
  if (mapping.path == "[vdso]") return {};
  if (!mapping.path.starts_with('/') || mapping.inode == 0)
    return refuse_code(start, "was generated at run time");
  if (mapping.writable) return refuse_code(start, "can modify itself");
  std::string path = fmt::format("/proc/{}/root{}", pid_, mapping.path);
  Result<Fd> file = open_regular(path);
  if (!file) return refuse_code(start, fmt::format("is of a missing file, {}", path));
  std::vector<std::byte> stored(page.bytes.size());
  auto offset = static_cast<off_t>(start - mapping.start + mapping.offset);
  ssize_t got = ::pread(file->get(), stored.data(), stored.size(), offset);
  for (size_t i = 0; i < static_cast<size_t>(std::max<ssize_t>(got, 0)); ++i) {
    constexpr std::byte kBreakpoint{0xcc};
    if (page.bytes[i] == stored[i]) continue;
    bool is_next_page = i >= kPageSize;  // perhaps of another mapping
    if (is_next_page) break;
    if (page.bytes[i] != kBreakpoint)
      return refuse_code(start + i, fmt::format("is not what {} has there", mapping.path));
    page.bytes[i] = stored[i];
  }
  return {};
}

}  // namespace sonde
