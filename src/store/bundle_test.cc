#include "store/bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "store/archive_unpack.h"
#include "store/archive_writer.h"
#include "store/tar_format.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

const std::string kBundledId = "\xab\xcd\xef\x01";

class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    std::string pattern = (fs::temp_directory_path() / "sonde-bundle-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~BundleTest() override { fs::remove_all(root_); }

  std::string make(Compression compression, const std::string& recording = "PERFILE2…") const {
    std::string path = root_ + "/made";
    fs::remove(path);
    auto archive = ArchiveWriter::create(path, compression);
    EXPECT_TRUE(archive);
    if (!recording.empty()) {
      EXPECT_TRUE(archive->add_bytes("perf.data", as_bytes(recording)));
    }
    EXPECT_TRUE(archive->add_link(".build-id/ab/cdef01", "../../usr/bin/x/abcdef01"));
    EXPECT_TRUE(archive->add_directory("usr/bin/x/abcdef01"));
    EXPECT_TRUE(archive->add_bytes("usr/bin/x/abcdef01/elf", as_bytes(object_)));
    EXPECT_TRUE(archive->add_bytes("files/tmp/perf-7.map", as_bytes(std::string_view("1 2 f\n"))));
    EXPECT_FALSE(archive->add_file("usr/nothing", root_ + "/nothing"));
    EXPECT_FALSE(fs::exists(path)) << "it has its name only when it is whole";
    EXPECT_TRUE(archive->finish());
    return read_file(path).value();
  }

  std::string root_;
  std::string object_ = std::string(100'000, 'o') + "end";
};

TEST_F(BundleTest, GivesItsMembersAsFiles) {
  std::string bytes = make(Compression::kZstdFrames);
  EXPECT_TRUE(Bundle::looks_like_one(as_bytes(bytes)));
  auto bundle = Bundle::view(as_bytes(bytes), "made");
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ(as_text(bundle->recording().value().bytes()), "PERFILE2…");
  EXPECT_EQ(read_file(bundle->file(kBundledId, "elf")).value(), object_);
  EXPECT_EQ(bundle->file(kBundledId, "debug"), "");
  EXPECT_EQ(bundle->file("\x01\x02", "elf"), "");
  EXPECT_EQ(read_file(bundle->file_at("/tmp/perf-7.map")).value(), "1 2 f\n");
  EXPECT_EQ(bundle->file_at("/tmp/perf-8.map"), "");
}

TEST_F(BundleTest, ATruncatedOneIsAnErrorWhereverItEnds) {
  std::string bytes = make(Compression::kZstdFrames);
  for (size_t size = 0; size < bytes.size(); ++size) {
    auto bundle = Bundle::view(as_bytes(std::string_view(bytes).substr(0, size)), "made");
    ASSERT_FALSE(bundle) << size;
    EXPECT_EQ(bundle.error().message.find('\n'), std::string::npos);
  }
}

TEST_F(BundleTest, ADamagedMemberGivesNothing) {
  std::string bytes = make(Compression::kZstdFrames);
  size_t found = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    auto bundle = Bundle::view(as_bytes(damaged), "made");
    if (!bundle) continue;
    std::string path = bundle->file(kBundledId, "elf");
    if (path.empty()) continue;
    ++found;
    EXPECT_EQ(read_file(path).value(), object_);
  }
  EXPECT_GT(found, 0U) << "damage elsewhere does not matter to it";
}

TEST_F(BundleTest, WithoutARecordingItIsNone) {
  std::string bytes = make(Compression::kZstdFrames, "");
  auto bundle = Bundle::view(as_bytes(bytes), "made");
  ASSERT_FALSE(bundle);
  EXPECT_EQ(bundle.error().message, "made: no recording is in this bundle");
}

TEST_F(BundleTest, BothKindsAreUnpackedIntoTheCache) {
  for (Compression compression : {Compression::kBzip2, Compression::kZstdFrames}) {
    make(compression);
    std::string cache = root_ + "/cache";
    auto done = unpack_archive(root_ + "/made", cache);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(done->objects, 1U);
    EXPECT_EQ(done->refused, 0U);
    EXPECT_EQ(read_file(cache + "/.build-id/ab/cdef01/elf").value(), object_);
    EXPECT_FALSE(fs::exists(cache + "/perf.data"));
    EXPECT_FALSE(fs::exists(cache + "/files"));
    fs::remove_all(cache);
  }
}

TEST_F(BundleTest, NothingIsUnpackedOutsideTheCache) {
  ByteBuilder tar;
  auto add = [&](const TarMember& member) {
    put_tar_header(member, tar);
    tar.zeros(member.size + tar_padding(member.size));
  };
  add({.name = "../evil", .size = 3});
  add({.name = "/tmp/evil", .size = 3});
  add({.name = "a/../../evil", .size = 3});
  add({.name = ".build-id/ab/cd/evil", .size = 3});
  add({.name = "usr", .type = TarType::kLink, .target = "/etc"});
  add({.name = ".build-id/ab/cd", .type = TarType::kLink, .target = "../../../etc"});
  add({.name = ".build-id/ab/cd", .type = TarType::kLink, .target = "/etc"});
  // Links that lead out from where they are, and names by which those are gone through.
  add({.name = ".build-id/up", .type = TarType::kLink, .target = "../../outside"});
  add({.name = "././.build-id/up/evil", .size = 3});
  add({.name = ".build-id//up/evil", .size = 3});
  add({.name = "usr/./x", .size = 3});
  add({.name = ".build-id/up/evil", .type = TarType::kLink, .target = "../../x/upevil"});
  add({.name = ".build-id/ab/cd", .type = TarType::kLink, .target = "../../.build-id/abcd"});
  add({.name = ".build-id/a/bcd", .type = TarType::kLink, .target = "../../x/abcd"});
  add({.name = ".build-id/ab/cd/ef", .type = TarType::kLink, .target = "../../x/abcdef"});
  // Of another object, or all of them: removing this one would remove those.
  add({.name = ".build-id/ab/cd", .type = TarType::kLink, .target = "../../usr"});
  add({.name = ".build-id/ab/cd", .type = TarType::kLink, .target = "../../usr/bin/x/abce"});
  std::string path = root_ + "/tar";
  std::ofstream(path, std::ios::binary) << as_text(tar.view());
  fs::create_directories(root_ + "/deep/outside");
  auto done = unpack_archive(path, root_ + "/deep/cache");
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->refused, 17U);
  EXPECT_FALSE(fs::exists(root_ + "/deep/cache"));
  EXPECT_TRUE(fs::is_empty(root_ + "/deep/outside"));
  EXPECT_FALSE(unpack_archive(root_ + "/nothing", root_));
  std::ofstream(path, std::ios::binary) << "no archive at all";
  EXPECT_FALSE(unpack_archive(path, root_));
}

TEST(TarFormat, ReadsWhatItWrites) {
  ByteBuilder tar;
  std::string long_name = "a/" + std::string(300, 'n');
  std::string long_target = "../../" + std::string(200, 't');
  std::string content = "content";
  put_tar_header({.name = long_name, .mode = 0755, .size = content.size(), .modified_s = 12345},
                 tar);
  tar.text(content);
  tar.zeros(tar_padding(content.size()));
  put_tar_header({.name = "link", .type = TarType::kLink, .target = long_target}, tar);
  put_tar_header({.name = "d/", .type = TarType::kDirectory}, tar);
  tar.zeros(2 * kTarBlock);
  TarReader reader(tar.view());
  auto file = reader.next().value();
  ASSERT_TRUE(file);
  EXPECT_EQ(file->name, long_name);
  EXPECT_EQ(file->mode, 0755U);
  EXPECT_EQ(file->modified_s, 12345);
  EXPECT_EQ(as_text(file->content), content);
  auto link = reader.next().value();
  ASSERT_TRUE(link);
  EXPECT_EQ(link->target, long_target);
  EXPECT_EQ(reader.next().value()->type, TarType::kDirectory);
  EXPECT_FALSE(reader.next().value());
}

TEST(TarFormat, LargeSizesHaveTheirForm) {
  ByteBuilder tar;
  uint64_t size = uint64_t{100} << 30;
  put_tar_header({.name = "large", .size = size}, tar);
  ASSERT_EQ(tar.size(), kTarBlock);
  TarReader headers(tar.view());
  EXPECT_EQ(headers.next(true).value()->size, size);
  TarReader contents(tar.view());
  EXPECT_FALSE(contents.next()) << "its content is not there";
}

}  // namespace
}  // namespace sonde
