#include "stacks/frame_spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stacks/parameter_list.h"

namespace sonde {
namespace {

constexpr std::string_view kUnknown = "[unknown]";
constexpr std::string_view kArrow = "->";

/// "Lorg/shop/Cart;::sum": a class in the JVM's descriptor notation.
bool begins_with_class(std::string_view name) {
  size_t end = name.find(';');
  return name.starts_with('L') && end != std::string_view::npos && name.find('/') < end;
}

void make_tidy(std::string& name) {
  if (begins_with_class(name)) {
    name.erase(0, 1);
    name.resize(std::min(name.size(), name.find('(', 1)));  // "(Ljava/lang/Object;)V"
  }
  name.resize(without_parameters(name).size());
  std::erase_if(name, [](char c) { return c == '"' || c == '\''; });
}

std::string_view base_name(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_known(std::string_view object) {
  return !object.empty() && object != kUnknown;
}

/// The spelling of code without a symbol: its object.
std::string spell_unknown(const RawFrame& frame, bool address) {
  std::string_view object = is_known(frame.object) ? base_name(frame.object) : "unknown";
  return address ? fmt::format("[{} <{:x}>]", object, frame.address) : fmt::format("[{}]", object);
}

/// "file.c:12", or nothing: placeholders for an unknown line ("libc.so.6[2724a]", "??:0",
/// "memcpy+34") do not count.
std::string_view known_line(std::string_view line) {
  size_t colon = line.rfind(':');
  if (colon == std::string_view::npos || line.starts_with("??")) return {};
  std::string_view number = line.substr(colon + 1);
  bool is_number = !number.empty() && number != "0" &&
                   number.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? line : std::string_view();
}

std::string_view mark_of(const RawFrame& frame, FrameKind kind, const SpellingOptions& options) {
  switch (kind) {
    case FrameKind::kKernel:
      return options.kernel && is_known(frame.object) ? "_[k]" : "";
    case FrameKind::kJit:
      return options.jit ? "_[j]" : "";
    case FrameKind::kInlined:
      // What follows the arrows in a JIT's names is always marked.
      return options.inlined || frame.kind != kind ? "_[i]" : "";
    default:
      return "";
  }
}

std::string spell_part(std::string_view part, FrameKind kind, const RawFrame& frame,
                       const SpellingOptions& options) {
  std::string name(part);
  if (part == kUnknown)
    name = spell_unknown(frame, options.addresses);
  else if (options.tidy && (!frame.is_shown_name || frame.kind == FrameKind::kJit))
    make_tidy(name);
  name = clean_name(name.empty() ? part : name);
  if (options.lines)
    if (std::string_view line = known_line(frame.line); !line.empty())
      name += fmt::format(":{}", line);
  std::string_view mark = mark_of(frame, kind, options);
  if (!name.ends_with(mark)) name += mark;
  return name;
}

/// The next "->" that separates the name of a function that a JIT compiled from that of one inlined
/// into it; C++ has an operator of that name, and Rust writes " -> " before a return type.
size_t find_arrow(std::string_view names) {
  for (size_t at = names.find(kArrow); at != std::string_view::npos;
       at = names.find(kArrow, at + 1)) {
    std::string_view before = names.substr(0, at);
    std::string_view after = names.substr(at + kArrow.size());
    if (before.empty() || before.ends_with(' ') || before.ends_with("operator")) continue;
    if (after.empty() || after.starts_with(' ') || after.starts_with('*')) continue;
    return at;
  }
  return std::string_view::npos;
}

bool is_kernel_object(std::string_view object) {
  constexpr std::array<std::string_view, 5> kUserAreas = {"[vdso", "[vsyscall", "[heap", "[stack",
                                                          "[anon"};
  constexpr std::array<std::string_view, 5> kModules = {".ko", ".ko.xz", ".ko.gz", ".ko.zst",
                                                        "vmlinux"};
  auto begins = [&](std::string_view area) { return object.starts_with(area); };
  auto ends = [&](std::string_view module) { return object.ends_with(module); };
  if (object.starts_with('['))
    return object != "[unknown]" && std::ranges::none_of(kUserAreas, begins);
  return std::ranges::any_of(kModules, ends) || object.starts_with("bpf_prog_");
}

/// "/tmp/perf-4152.map", "jitted-4152-7.so", "/tmp/jit-4152.dump".
bool is_generated_object(std::string_view object) {
  std::string_view name = object.substr(object.rfind('/') + 1);
  auto is_named = [&](std::string_view prefix, std::string_view suffix) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
    return name.size() > prefix.size() &&
           std::string_view("0123456789").contains(name[prefix.size()]);
  };
  return is_named("perf-", ".map") || is_named("jitted-", ".so") || is_named("jit-", ".dump");
}

}  // namespace

FrameKind kind_of_object(std::string_view object) {
  if (is_kernel_object(object)) return FrameKind::kKernel;
  return is_generated_object(object) ? FrameKind::kJit : FrameKind::kUser;
}

std::string clean_name(std::string_view name) {
  std::string clean(name.empty() ? kUnknown : name);
  std::ranges::replace(clean, ';', ':');
  std::ranges::replace_if(clean, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return clean;
}

void spell_frame(const RawFrame& frame, const SpellingOptions& options,
                 std::vector<SpelledFrame>& out) {
  std::string_view names = frame.function.empty() ? kUnknown : frame.function;
  FrameKind kind = frame.kind;
  bool may_have_arrows = kind == FrameKind::kJit;
  for (size_t at = find_arrow(names); may_have_arrows && at != std::string_view::npos;
       at = find_arrow(names)) {
    out.push_back({spell_part(names.substr(0, at), kind, frame, options), kind});
    names.remove_prefix(at + kArrow.size());
    kind = FrameKind::kInlined;
  }
  out.push_back({spell_part(names, kind, frame, options), kind});
}

std::string spell_task(std::string_view comm, std::optional<uint32_t> pid, uint32_t tid,
                       const SpellingOptions& options) {
  std::string name(comm);
  std::ranges::replace_if(name, [](char c) { return c == ' ' || c == '\n' || c == '\r'; }, '_');
  std::ranges::replace(name, ';', ':');
  std::string process = pid ? fmt::format("{}", *pid) : "?";
  if (options.tid) return fmt::format("{}-{}/{}", name, process, tid);
  if (options.pid) return fmt::format("{}-{}", name, process);
  return name;
}

}  // namespace sonde
