#include "python/script_catalog.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace sonde::python {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kReport = "-report";

bool is_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string_view trimmed(std::string_view text) {
  size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::unexpected<Error> perl(std::string_view name) {
  return fail(ErrorCode::kUnsupported,
              "{}: scripts in Perl are not run: rewrite it in Python, from `script -g python`",
              name);
}

}  // namespace

size_t required_arguments(std::string_view arguments) {
  return static_cast<size_t>(std::ranges::count(arguments, '<'));
}

ScriptCatalog::Entry described(std::string name, std::string_view shell_script) {
  ScriptCatalog::Entry entry{std::move(name), {}, {}};
  while (!shell_script.empty()) {
    std::string_view line = shell_script.substr(0, shell_script.find('\n'));
    shell_script.remove_prefix(std::min(line.size() + 1, shell_script.size()));
    if (!line.starts_with('#')) continue;
    line = trimmed(line.substr(1));
    constexpr std::string_view kDescription = "description:", kArguments = "args:";
    if (line.starts_with(kDescription))
      entry.description = trimmed(line.substr(kDescription.size()));
    if (line.starts_with(kArguments)) entry.arguments = trimmed(line.substr(kArguments.size()));
  }
  return entry;
}

std::vector<ScriptCatalog::Entry> ScriptCatalog::list() const {
  std::vector<Entry> all;
  std::error_code failed;
  for (const fs::directory_entry& file :
       fs::directory_iterator(exec_path_ + "/scripts/python/bin", failed)) {
    std::string name = file.path().filename().string();
    if (!name.ends_with(kReport)) continue;
    name.resize(name.size() - kReport.size());
    auto text = MappedFile::open(file.path().string());
    if (text) all.push_back(described(std::move(name), as_text(text->bytes())));
  }
  std::ranges::sort(all, {}, &Entry::name);
  return all;
}

Result<std::string> ScriptCatalog::find(std::string_view spec) const {
  std::string_view language;
  if (size_t colon = spec.find(':');
      colon != std::string_view::npos && !is_file(std::string(spec))) {
    language = spec.substr(0, colon);
    spec.remove_prefix(colon + 1);
  }
  if (language == "perl" || language == "Perl" || language == "pl" || spec.ends_with(".pl"))
    return perl(spec);
  if (!language.empty() && language != "python" && language != "Python" && language != "py")
    return fail(ErrorCode::kUsage, "-s: scripts are in Python, not in `{}'", language);
  std::string path(spec);
  if (is_file(path)) return path;
  for (const char* ending : {"", ".py"}) {
    std::string shipped = fmt::format("{}/scripts/python/{}{}", exec_path_, spec, ending);
    if (spec.find('/') == std::string_view::npos && is_file(shipped)) return shipped;
  }
  TRY(refuse_perl(spec));
  return unknown(spec);
}

Result<> ScriptCatalog::refuse_perl(std::string_view name) const {
  if (is_file(fmt::format("{}/scripts/perl/{}.pl", exec_path_, name))) return perl(name);
  return {};
}

std::string ScriptCatalog::wrapper(std::string_view name, std::string_view kind) const {
  if (name.empty() || name.find('/') != std::string_view::npos) return {};
  std::string path = fmt::format("{}/scripts/python/bin/{}-{}", exec_path_, name, kind);
  return is_file(path) ? path : std::string();
}

std::unexpected<Error> ScriptCatalog::unknown(std::string_view name) {
  return fail(ErrorCode::kNotFound,
              "Couldn't find script `{}': script -l lists those that there are", name);
}

}  // namespace sonde::python
