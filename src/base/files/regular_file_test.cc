#include "base/files/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/files/process_root.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;

/// A folder with one of each kind: what a path that Sonde looks for may lead to.
class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() {
    std::string pattern = (fs::temp_directory_path() / "sonde-regular-XXXXXX").string();
    top_ = ::mkdtemp(pattern.data());
    fs::permissions(top_, fs::perms::others_exec | fs::perms::group_exec, fs::perm_options::add);
    write("file", "content");
    EXPECT_EQ(::mkfifo(at("fifo").c_str(), 0666), 0);
    fs::create_directory(at("folder"));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, at("socket").c_str(), sizeof address.sun_path - 1);
    socket_ = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RegularFileTest() override { fs::remove_all(top_); }

  [[nodiscard]] std::string at(const std::string& name) const { return top_ + "/" + name; }
  void write(const std::string& name, std::string_view text) const {
    fs::create_directories(fs::path(at(name)).parent_path());
    std::ofstream(at(name)) << text;
  }
  void link(const std::string& name, const std::string& target) const {
    fs::create_symlink(target, at(name));
  }
  static std::string text_of(const Result<Fd>& fd) {
    if (!fd) return fd.error().message;
    return read_all(fd->get(), "it", 1 << 20).value_or("unreadable");
  }

  std::string top_;
  Fd socket_;
};

TEST_F(RegularFileTest, OnlyRegularFilesAreOpened) {
  EXPECT_EQ(text_of(open_regular(at("file"))), "content");
  link("good", "file");
  EXPECT_EQ(text_of(open_regular(at("good"))), "content");
  link("to-fifo", "fifo");
  for (const auto& [name, kind] :
       {std::pair{"fifo", "a FIFO"}, {"to-fifo", "a FIFO"}, {"socket", "a socket"}}) {
    std::string expected =
        fmt::format("cannot read {}: it is {}, not a regular file", at(name), kind);
    EXPECT_EQ(text_of(open_regular(at(name))), expected);
    EXPECT_EQ(read_file(at(name)).error().message, expected);
    EXPECT_EQ(MappedFile::open(at(name)).error().message, expected);
    EXPECT_FALSE(status_of_regular(at(name)));
  }
  EXPECT_EQ(text_of(open_regular("/dev/zero")),
            "cannot read /dev/zero: it is a device, not a regular file");
  EXPECT_EQ(text_of(open_regular(at("folder"))),
            fmt::format("failed to read {}: Is a directory", at("folder")));
  EXPECT_EQ(text_of(open_regular(at("none"))),
            fmt::format("failed to open {}: No such file or directory", at("none")));
  EXPECT_EQ(open_regular(at("none")).error().code, ErrorCode::kNotFound);
}

TEST_F(RegularFileTest, WhatIsNoFileButReadLikeOne) {
  EXPECT_EQ(read_file("/dev/null").value_or("refused"), "");
  EXPECT_FALSE(read_file("/proc/self/status").value_or("").empty());
  EXPECT_FALSE(read_file("/sys/kernel/mm/transparent_hugepage/enabled", 16).value_or("-").empty());
}

TEST_F(RegularFileTest, TheLastLinkCanBeRefused) {
  link("link", "file");
  EXPECT_EQ(text_of(open_regular(at("file"), LastLink::kRefuse)), "content");
  EXPECT_EQ(text_of(open_regular(at("link"), LastLink::kRefuse)),
            fmt::format("cannot read {}: it is a symbolic link, not a regular file", at("link")));
}

TEST_F(RegularFileTest, HolesAreNotRead) {
  write("holes", "");
  ASSERT_EQ(::truncate(at("holes").c_str(), off_t{1} << 40), 0);
  EXPECT_EQ(read_file(at("holes")).error().message,
            fmt::format("{} is larger than {} bytes", at("holes"), 1 << 30));
  EXPECT_TRUE(open_regular(at("holes")));
}

TEST_F(RegularFileTest, StreamsAreReadWhereTheUserNamesThem) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  Fd in(ends[0]), out(ends[1]);
  ASSERT_EQ(::write(out.get(), "piped", 5), 5);
  out.reset();
  std::string path = fmt::format("/dev/fd/{}", in.get());
  EXPECT_FALSE(read_file(path));
  EXPECT_EQ(read_stream(path).value_or(""), "piped");
  EXPECT_EQ(read_stream(at("file")).value_or(""), "content");
}

TEST_F(RegularFileTest, LinksStayBelowAnotherRoot) {
  write("secret", "secret");
  write("root/etc/file", "inside");
  write("root/secret", "not the secret");
  link("root/absolute", "/etc/file");
  link("root/up", "../../../../../../etc/file");
  link("root/out", "../secret");
  link("root/absolute-out", at("secret"));
  link("root/magic", fmt::format("/proc/self/fd/{}", socket_.get()));
  link("root/folder", "/etc");
  ASSERT_EQ(::mkfifo(at("root/fifo").c_str(), 0666), 0);
  auto root = ProcessRoot::at(at("root"));
  ASSERT_TRUE(root);
  for (const char* path : {"/etc/file", "etc/file", "/absolute", "/up", "/folder/file",
                           "/../../etc/file", "/etc/../../../etc/file"})
    EXPECT_EQ(text_of(root->open_regular(path)), "inside") << path;
  EXPECT_EQ(text_of(root->open_regular("/out")), "not the secret");
  for (const char* path : {"/absolute-out", "/magic", "/none"}) {
    EXPECT_TRUE(text_of(root->open_regular(path)).starts_with("failed to open")) << path;
    EXPECT_FALSE(root->status_of_regular(path)) << path;
  }
  EXPECT_EQ(text_of(root->open_regular("/fifo")),
            fmt::format("cannot read {}/fifo: it is a FIFO, not a regular file", at("root")));
  EXPECT_EQ(text_of(root->open_regular("/absolute", LastLink::kRefuse)),
            fmt::format("cannot read {}/absolute: it is a symbolic link, not a regular file",
                        at("root")));
  for (const char* path : {"/etc/file", "/absolute", "/up", "/folder/file"})
    EXPECT_EQ(path_below(at("root"), path), at("root/etc/file")) << path;
  EXPECT_EQ(path_below(at("root"), "/out"), at("root/secret"));
  EXPECT_EQ(path_below(at("root"), "/none"), at("root/none"));
  for (const char* path : {"/absolute-out", "/magic"})
    EXPECT_EQ(path_below(at("root"), path), at("root") + path);
  EXPECT_EQ(path_below("", "/absolute"), "/absolute");
}

TEST_F(RegularFileTest, LinksLikeThoseOfProcAreNotFollowed) {
  auto root = ProcessRoot::open(::getpid());
  ASSERT_TRUE(root);
  Fd file(::open(at("file").c_str(), O_RDONLY | O_CLOEXEC));
  std::string magic = fmt::format("/proc/{}/fd/{}", ::getpid(), file.get());
  EXPECT_EQ(text_of(open_regular(magic)), "content");
  EXPECT_FALSE(root->open_regular(magic));
  EXPECT_FALSE(open_regular(fmt::format("/proc/{0}/root/proc/{0}/root/etc/passwd", ::getpid())));
}

TEST(PathInRoot, NamesProcessAndPath) {
  auto split = [](const std::string& path) {
    auto found = path_in_root(path);
    return found ? fmt::format("{} {}", found->pid, found->path) : "";
  };
  EXPECT_EQ(split("/proc/12/root/etc/passwd"), "12 /etc/passwd");
  EXPECT_EQ(split("//proc/./12//root//etc"), "12 //etc");
  EXPECT_EQ(split("/proc/12/task/13/root/etc"), "13 /etc");
  EXPECT_EQ(split("/proc/12/root"), "12 /");
  for (const char* ours :
       {"/proc/self/root/etc", "/proc/12/rooted", "/proc/12/fd/3", "/proc/kallsyms",
        "/mnt/proc/12/root/etc", "proc/12/root/etc", "/proc/0/root/x", ""})
    EXPECT_EQ(split(ours), "") << ours;
}

/// Another user's process; root only.
class ForeignRootTest : public RegularFileTest {
 protected:
  static constexpr uid_t kSomebody = 65534;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    hold_ = Fd(ends[1]);
    Fd told(ends[0]);
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    Fd is_ready(ready[0]), says(ready[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      bool changed = ::setresgid(kSomebody, kSomebody, kSomebody) == 0 &&
                     ::setresuid(kSomebody, kSomebody, kSomebody) == 0;
      char byte = changed ? 'y' : 'n';
      (void)!::write(says.get(), &byte, 1);
      hold_.reset();
      (void)!::read(told.get(), &byte, 1);
      ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(is_ready.get(), &byte, 1), 1);
    ASSERT_EQ(byte, 'y');
  }
  void TearDown() override {
    hold_.reset();
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] std::string seen(const std::string& name) const {
    return fmt::format("/proc/{}/root{}", pid_, at(name));
  }

  pid_t pid_ = 0;
  Fd hold_;
};

TEST_F(ForeignRootTest, FilesAreOpenedWithTheRightsOfTheProcess) {
  write("private", "secret");
  fs::permissions(at("private"), fs::perms::owner_read);
  link("link", at("private"));
  fs::create_directory(at("closed"));
  write("closed/readable", "secret");
  fs::permissions(at("closed"), fs::perms::owner_all);
  fs::create_hard_link(at("private"), at("second"));
  EXPECT_EQ(text_of(open_regular(seen("file"))), "content");
  for (const char* name : {"private", "link", "second", "closed/readable"}) {
    EXPECT_EQ(text_of(open_regular(at(name))), "secret") << name;
    EXPECT_EQ(open_regular(seen(name)).error().code, ErrorCode::kPermission) << name;
    EXPECT_FALSE(read_file(seen(name))) << name;
    EXPECT_FALSE(MappedFile::open(seen(name))) << name;
  }
}

TEST_F(ForeignRootTest, RightsAreGivenUpAndTakenBack) {
  auto root = ProcessRoot::open(pid_);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->owner().uid, kSomebody);
  auto folder = root->open_directory(top_);
  ASSERT_TRUE(folder);
  auto create = [&] {
    return Fd(::openat(folder->get(), "made", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600))
        .valid();
  };
  {
    RightsOf rights(root->owner());
    ASSERT_TRUE(rights.valid());
    EXPECT_FALSE(create());
    EXPECT_NE(::unlinkat(folder->get(), "file", 0), 0);
  }
  EXPECT_TRUE(create());
  EXPECT_TRUE(fs::exists(at("file")));
  fs::permissions(top_, fs::perms::all);
  {
    RightsOf rights(root->owner());
    EXPECT_EQ(::unlinkat(folder->get(), "made", 0), 0);
    EXPECT_TRUE(create());
  }
  EXPECT_EQ(status_of_regular(at("made"))->st_uid, kSomebody);
}

}  // namespace
}  // namespace sonde
