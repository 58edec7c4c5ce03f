#include "bpf/program_compiler.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/output/overwriting.h"
#include "base/text.h"

namespace sonde {
namespace {

constexpr std::string_view kCommand =
    "\"$CLANG_EXEC\" -D__KERNEL__ -D__NR_CPUS__=$NR_CPUS "
    "-DLINUX_VERSION_CODE=$LINUX_VERSION_CODE $CLANG_OPTIONS $PERF_BPF_INC_OPTIONS "
    "$KERNEL_INC_OPTIONS -Wno-unused-value -Wno-pointer-sign -working-directory \"$WORKING_DIR\" "
    "-c \"$CLANG_SOURCE\" -target bpf $CLANG_EMIT_LLVM -g -O2 -o - $LLVM_OPTIONS_PIPE";

utsname system_names() {
  utsname names{};
  ::uname(&names);
  return names;
}

/// The kernel's own headers, if installed; otherwise the user's programs use the system's.
std::string kernel_include_options(const CompilerSettings& settings) {
  utsname names = system_names();
  std::string directory =
      settings.kernel_directory.value_or(fmt::format("/lib/modules/{}/build", names.release));
  if (directory.empty() || !std::filesystem::exists(directory + "/include/linux/kconfig.h"))
    return {};
  std::string arch = names.machine;
  if (arch == "x86_64") arch = "x86";
  if (arch == "aarch64") arch = "arm64";
  std::string options;
  for (const std::string& path :
       {"arch/" + arch + "/include", "arch/" + arch + "/include/generated", std::string("include"),
        "arch/" + arch + "/include/uapi", "arch/" + arch + "/include/generated/uapi",
        std::string("include/uapi"), std::string("include/generated/uapi")})
    options += fmt::format("-I{}/{} ", directory, path);
  return options + fmt::format("-include {}/include/linux/kconfig.h", directory);
}

/// Clang for another target leaves out the directory in which Debian and its derivatives keep the
/// architecture-specific headers.
std::string system_include_options() {
  std::string directory = fmt::format("/usr/include/{}-linux-gnu", system_names().machine);
  return std::filesystem::exists(directory) ? "-idirafter " + directory : "";
}

bool is_in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (std::string_view directory : split(path == nullptr ? "/usr/bin:/bin" : path, ':'))
    if (::access(fmt::format("{}/{}", directory, program).c_str(), X_OK) == 0) return true;
  return false;
}

/// Debian's versioned packages provide no plain "clang".
std::string find_clang() {
  constexpr int kNewest = 25, kOldest = 10;
  if (is_in_path("clang")) return "clang";
  for (int version = kNewest; version >= kOldest; --version)
    if (std::string name = fmt::format("clang-{}", version); is_in_path(name)) return name;
  return "clang";
}

std::vector<std::string> environment_for(const std::string& source,
                                         const CompilerSettings& settings) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  auto set = [&](std::string_view name, std::string_view value) {
    std::string prefix = fmt::format("{}=", name);
    std::erase_if(variables, [&](const std::string& v) { return v.starts_with(prefix); });
    variables.push_back(prefix + std::string(value));
  };
  std::error_code error;
  bool through_llc = !settings.llc_options.empty();
  set("CLANG_EXEC", settings.clang.empty() ? find_clang() : settings.clang);
  set("CLANG_OPTIONS", settings.options);
  set("CLANG_SOURCE", std::filesystem::absolute(source, error).string());
  set("WORKING_DIR", std::filesystem::current_path(error).string());
  set("NR_CPUS", fmt::format("{}", ::sysconf(_SC_NPROCESSORS_CONF)));
  set("LINUX_VERSION_CODE", fmt::format("{:#x}", kernel_version_code(system_names().release)));
  set("KERNEL_INC_OPTIONS", kernel_include_options(settings));
  set("PERF_BPF_INC_OPTIONS", system_include_options());
  set("CLANG_EMIT_LLVM", through_llc ? "-emit-llvm" : "");
  set("LLVM_OPTIONS_PIPE",
      through_llc ? fmt::format("| llc -march=bpf {} -filetype=obj -o -", settings.llc_options)
                  : "");
  return variables;
}

struct CommandOutput {
  int status = 0;  // as of wait(2)
  std::string out, err;
};

/// The contents of a memfd.
std::string content_of(const Fd& file, const char* name) {
  ::lseek(file.get(), 0, SEEK_SET);
  return read_all(file.get(), name, size_t{1} << 28).value_or("");
}

/// Runs `/bin/sh -c command`.
Result<CommandOutput> run_shell(const std::string& command,
                                const std::vector<std::string>& environment) {
  Fd out(::memfd_create("object", MFD_CLOEXEC)), err(::memfd_create("messages", MFD_CLOEXEC));
  if (!out.valid() || !err.valid())
    return fail(ErrorCode::kIo, "cannot create a file in memory: {}", std::strerror(errno));
  std::vector<char*> variables;
  for (const std::string& variable : environment)
    variables.push_back(const_cast<char*>(variable.c_str()));
  variables.push_back(nullptr);
  const char* words[] = {"sh", "-c", command.c_str(), nullptr};
  pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kIo, "cannot start a process: {}", std::strerror(errno));
  if (child == 0) {
    if (::dup2(out.get(), 1) < 0 || ::dup2(err.get(), 2) < 0) ::_exit(127);
    ::execve("/bin/sh", const_cast<char**>(words), variables.data());
    ::_exit(127);
  }
  CommandOutput result;
  while (::waitpid(child, &result.status, 0) < 0 && errno == EINTR) {
  }
  result.out = content_of(out, "object");
  result.err = content_of(err, "messages");
  return result;
}

std::string object_path(const std::string& source) {
  return std::filesystem::path(source).replace_extension(".o").string();
}

}  // namespace

unsigned kernel_version_code(std::string_view release) {
  unsigned numbers[3] = {};
  size_t at = 0;
  for (unsigned& number : numbers) {
    size_t end = std::min(release.find_first_not_of("0123456789", at), release.size());
    number = static_cast<unsigned>(
        parse_number(release.substr(at, std::min<size_t>(end - at, 6))).value_or(0));
    if (end >= release.size() || release[end] != '.') break;
    at = end + 1;
  }
  // The last number has eight bits.
  return numbers[0] << 16 | std::min(numbers[1], 255U) << 8 | std::min(numbers[2], 255U);
}

Result<std::vector<std::byte>> compile_program(const std::string& source,
                                               const CompilerSettings& settings,
                                               const std::function<void(std::string_view)>& note) {
  if (::access(source.c_str(), R_OK) != 0)
    return fail(ErrorCode::kNotFound, "{}: {}", source, std::strerror(errno));
  std::string command = settings.command.empty() ? std::string(kCommand) : settings.command;
  CommandOutput output = TRY(run_shell(command, environment_for(source, settings)));
  std::string said(trim(output.err));
  if (!WIFEXITED(output.status) || WEXITSTATUS(output.status) != 0 || output.out.empty()) {
    bool no_clang = WIFEXITED(output.status) && WEXITSTATUS(output.status) == 127;
    return fail(ErrorCode::kFailed, "{}{}{}", Error{.message = said}, said.empty() ? "" : "\n",
                no_clang ? fmt::format("Compiling {} needs clang: install it, give its path with "
                                       "--clang-path, or give an object file (.o)",
                                       source)
                         : fmt::format("{} cannot be compiled", source));
  }
  if (note && !said.empty()) note(said);
  Bytes object = as_bytes(output.out);
  if (settings.keep_object) {
    std::string path = object_path(source);
    auto file = overwrite(path, 0644);
    if (!file) return fail(ErrorCode::kIo, "{}: {}", path, file.error());
    TRY(write_all(file->get(), path, object));
    if (note) note(fmt::format("LLVM: dumping {}", path));
  }
  return std::vector<std::byte>(object.begin(), object.end());
}

}  // namespace sonde
