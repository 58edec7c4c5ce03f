#include "capture/unwinding/interpreters/object_interpreters.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "abi/regs.h"

namespace sonde {
namespace {

/// programs/python_frames.bpf.h, programs/ruby_frames.bpf.h.
std::string known_text(std::string_view known) {
  return std::string(abi::host_arch() == abi::Arch::kX86_64 ? known
                                                            : "that is done on x86-64 only");
}

}  // namespace

FoundInterpreters find_interpreters(const ElfFile& file) {
  return {.python = python_interpreter_of(file), .ruby = ruby_interpreter_of(file)};
}

ObjectInterpreters::Numbers ObjectInterpreters::add(const walk_object_key& key,
                                                    const std::string& path,
                                                    FoundInterpreters found,
                                                    const FrameBytes& frame_bytes) {
  if (!found.python && !found.ruby) return {};
  auto [known, is_new] = numbers_.try_emplace(key);
  if (!is_new) return known->second;
  bool is_readable = abi::host_arch() == abi::Arch::kX86_64;
  if (found.python) {
    std::optional<python_layout>& layout = found.python->layout;
    if (layout) layout->loop_bytes = frame_bytes(layout->loop_start, layout->loop_end);
    if (is_readable && layout && pythons_ < INTERPRETER_OBJECTS &&
        walker_.put_python(pythons_, *layout))
      known->second.python = ++pythons_;
    else
      add_unknown(fmt::format("{} (CPython {}): its Python frames cannot be read: {}", path,
                              found.python->version_text(),
                              known_text("CPython 3.8 to 3.13 are known")));
  }
  if (found.ruby) {
    const std::optional<ruby_layout>& layout = found.ruby->layout;
    if (is_readable && layout && rubies_ < INTERPRETER_OBJECTS &&
        walker_.put_ruby(rubies_, *layout))
      known->second.ruby = ++rubies_;
    else
      add_unknown(fmt::format("{} (Ruby {}): its Ruby frames cannot be read: {}", path,
                              found.ruby->version,
                              known_text("Ruby 3.1 is known, as a library built by gcc")));
  }
  return known->second;
}

/// In an overlay, a file has two inodes.
void ObjectInterpreters::add_unknown(std::string line) {
  if (std::ranges::find(unknown_, line) == unknown_.end()) unknown_.push_back(std::move(line));
}

}  // namespace sonde
