#include "probe/usdt/library_search.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "elf/elf_builder.h"

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::vector<std::byte> cache_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  ByteBuilder out;
  out.text("glibc-ld.so.cache1.1");
  out.u32(static_cast<uint32_t>(entries.size()));
  out.zeros(24);
  uint64_t strings = 48 + 24 * entries.size();
  std::string texts;
  for (const auto& [name, path] : entries) {
    out.u32(0x0303);
    out.u32(static_cast<uint32_t>(strings + texts.size()));
    texts.append(name).push_back('\0');
    out.u32(static_cast<uint32_t>(strings + texts.size()));
    texts.append(path).push_back('\0');
    out.zeros(12);
  }
  out.text(texts);
  return {out.view().begin(), out.view().end()};
}

TEST(LibraryCache, HasPathsByName) {
  auto bytes = cache_of({{"libz.so.1", "/lib/libz.so.1"}, {"liba.so", "/opt/liba.so"}});
  EXPECT_THAT(parse_library_cache(bytes),
              ElementsAre(Pair("liba.so", "/opt/liba.so"), Pair("libz.so.1", "/lib/libz.so.1")));
}

TEST(LibraryCache, OfDamagedBytesIsSmaller) {
  auto bytes = cache_of({{"libz.so.1", "/lib/libz.so.1"}});
  for (size_t size = 0; size + 1 < bytes.size(); ++size)
    EXPECT_THAT(parse_library_cache(Bytes(bytes).first(size)), IsEmpty()) << size;
  bytes[20] = bytes[21] = bytes[22] = bytes[23] = std::byte{0xff};
  EXPECT_THAT(parse_library_cache(bytes), IsEmpty());
}

class LibrariesOf : public testing::Test {
 protected:
  LibrariesOf() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sonde_libs_XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(directory_ + "/own");
  }
  ~LibrariesOf() override { std::filesystem::remove_all(directory_); }

  /// An object that needs one library.
  std::string write(const std::string& name, std::string_view needed, std::string_view run_path,
                    uint16_t machine = EM_X86_64) {
    ByteBuilder entries;
    std::string strings(1, '\0');
    auto add = [&](uint64_t tag, std::string_view text) {
      if (text.empty()) return;
      entries.u64(tag);
      entries.u64(strings.size());
      strings.append(text).push_back('\0');
    };
    add(DT_NEEDED, needed);
    add(DT_RUNPATH, run_path);
    ElfBuilder elf(true, ByteOrder::kLittle, machine);
    uint32_t table = elf.section(".dynstr", SHT_STRTAB, SHF_ALLOC, 0, strings);
    elf.section(".dynamic", SHT_DYNAMIC, SHF_ALLOC, 0, std::string(as_text(entries.view())), table);
    std::vector<std::byte> bytes = elf.build();
    std::string path = directory_ + "/" + name;
    std::ofstream(path).write(reinterpret_cast<const char*>(bytes.data()),
                              static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  std::string directory_;
};

TEST_F(LibrariesOf, AreFoundByRunPathAndCacheToTheLast) {
  std::string program = write("program", "liba.so", "/nowhere:$ORIGIN/own");
  std::string first = write("own/liba.so", "libb.so", "");
  std::string foreign = write("libb.arm64.so", "", "", EM_AARCH64);
  std::string second = write("libb.so", "liba.so", "");
  LibraryCache cache{{"libb.so", foreign}, {"libb.so", second}};
  EXPECT_THAT(libraries_of(program, cache), ElementsAre(first, second));
}

TEST_F(LibrariesOf, AreNoneForWhatIsNoProgram) {
  EXPECT_THAT(libraries_of(directory_ + "/nosuch", {}), IsEmpty());
  std::ofstream(directory_ + "/script") << "#!/bin/sh\n";
  EXPECT_THAT(libraries_of(directory_ + "/script", {}), IsEmpty());
  EXPECT_THAT(libraries_of(write("lost", "libnosuch_at_all.so", ""), {}), IsEmpty());
}

}  // namespace
}  // namespace sonde
