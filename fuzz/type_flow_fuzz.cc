// Untrusted code and untrusted debug information together: tracks what instructions access through
// bytes that are not a function, with variables of an object that is not a program.
#include <elf.h>

#include <cstdint>

#include "base/check.h"
#include "datatype/object_data.h"
#include "fuzz/fuzz_target.h"

namespace {

constexpr size_t kMaxCode = 4096;

void follow(sonde::Bytes bytes, sonde::abi::Arch arch) {
  auto elf = sonde::ElfFile::view(bytes, "/nonexistent/fuzz");
  auto image = sonde::ElfFile::view(bytes, "/nonexistent/fuzz");
  if (!elf || !image) return;
  auto data = sonde::datatype::ObjectData::open(
      sonde::DebugInfo{std::move(*elf), {"/nonexistent", "", nullptr}}, &*image);
  if (!data) return;
  constexpr uint64_t kStart = 0x400100;  // where the corpus has its functions
  sonde::Bytes code = bytes.first(std::min(bytes.size(), kMaxCode));
  for (uint64_t address = kStart; address < kStart + code.size(); ++address) {
    auto access = (*data)->access_at(code, kStart, arch, true, address);
    if (access.kind != sonde::datatype::AccessKind::kData) continue;
    CHECK((*data)->types().size_of(access.type) > 0);
    (void)(*data)->types().field_at(access.type, access.offset, access.size);
  }
}

}  // namespace

FUZZ_TARGET(type_flow)(const uint8_t* data, size_t size) {
  sonde::Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  follow(bytes, sonde::abi::Arch::kX86_64);
  return 0;
}
