#include "ftrace/trace_changes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <expected>
#include <map>

#include "base/file.h"
#include "ftrace/until_not_busy.h"

namespace sonde {
namespace {

using Change = TraceChanges::Change;

struct Planned {
  Change change;
  const TraceWrite* write;
};

/// The text, or an errno.
std::expected<std::string, int> read_trace_file(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return std::unexpected(errno);
  auto text = read_all(file.get(), path, size_t{64} << 20);
  if (!text) return std::unexpected(EIO);
  return *text;
}

bool is_function_list(std::string_view file) {
  return file == "set_ftrace_filter" || file == "set_ftrace_notrace" ||
         file == "set_graph_function" || file == "set_graph_notrace";
}

std::unexpected<Error> refused(const std::string& path, const TraceWrite& write,
                               const std::string& word, int error) {
  std::string whose = write.option.empty() ? path : fmt::format("{} ({})", path, write.option);
  switch (error) {
    case ENOENT:
      return fail(ErrorCode::kUnsupported, "{}: this kernel does not have it", whose);
    case EACCES:
      return fail(ErrorCode::kPermission, "{}: cannot be written to: try sudo", whose);
    case EPERM:
      return fail(ErrorCode::kPermission,
                  "{}: the kernel refuses to trace its functions ({}): a policy or lockdown "
                  "forbids it; events still work: 'record -e', 'trace', 'kwork'",
                  whose, std::strerror(error));
    case EINVAL:
      if (is_function_list(write.file) && !word.empty())
        return fail(ErrorCode::kNotFound,
                    "{} {}: no function that can be traced has this name: 'ftrace -F' lists them",
                    write.option, word);
      break;
    case EBUSY:
      return fail(ErrorCode::kFailed, "{}: in use by another tracing session: end that first",
                  whose);
    default:
      break;
  }
  return fail(ErrorCode::kUnsupported, "{}: cannot be set to '{}': {}", whose, word,
              std::strerror(error));
}

/// What to write, and what it replaces; leaves out files that already have that content.
Result<std::vector<Planned>> plan(const TraceDirectory& where,
                                  const std::vector<TraceWrite>& writes) {
  std::vector<Planned> changes;
  std::map<std::string, std::vector<std::string>> now;  // as it will be by then
  for (const TraceWrite& write : writes) {
    std::string path = where.path(write.file);
    auto known = now.find(path);
    if (known == now.end()) {
      auto text = read_trace_file(path);
      if (!text && !write.is_asked_for) continue;
      if (!text) return refused(path, write, "", text.error());
      if (write.file == "buffer_size_kb" && text->starts_with('X') && where.is_shared())
        return fail(ErrorCode::kUnsupported,
                    "{}: the CPUs' buffer sizes differ and could not be restored: omit -m", path);
      known = now.emplace(path, words_of_trace_file(write.file, *text)).first;
    }
    // tracing_on is toggled while the tracer works.
    if (known->second == write.words && write.file != "tracing_on") continue;
    changes.push_back({{path, known->second}, &write});
    known->second = write.words;
  }
  return changes;
}

void put_back(const std::vector<Change>& changes) {
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    until_not_busy([&] { return write_trace_file(change->path, change->before); });
}

}  // namespace

int write_trace_file(const std::string& path, const std::vector<std::string>& words,
                     std::string* bad_word) {
  Fd file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file.valid()) return errno;
  for (const std::string& word : words) {
    std::string line = word + "\n";
    ssize_t written;
    do {
      written = ::write(file.get(), line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    if (written >= 0) continue;
    if (bad_word != nullptr) *bad_word = word;
    return errno;
  }
  return 0;
}

Result<TraceChanges> TraceChanges::make(const TraceDirectory& where,
                                        const std::vector<TraceWrite>& writes) {
  std::vector<Planned> planned = TRY(plan(where, writes));
  std::vector<Change> wanted;
  for (const Planned& one : planned) wanted.push_back(one.change);
  TraceChanges made;
  made.guard_ = TRY(EndGuard::start("sonde-ftrace", [wanted] { put_back(wanted); }));
  for (Planned& one : planned) {
    std::string bad_word;
    const TraceWrite& write = *one.write;
    int error = write_trace_file(one.change.path, write.words, &bad_word);
    // Recorded even on failure: half of its words may have arrived.
    made.changes_.push_back(std::move(one.change));
    if (error == 0 || (!write.is_asked_for && error != EPERM && error != EACCES)) continue;
    return refused(made.changes_.back().path, write, bad_word, error);
  }
  return made;
}

TraceChanges::~TraceChanges() {
  put_back(changes_);
  guard_.dismiss();
}

}  // namespace sonde
