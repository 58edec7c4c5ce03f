// How frames are spelled in folded stacks and in pictures made from them: as reports name them, and
// much like the widely used stackcollapse script where they come from other tools' text.
//
//   std::vector<int>::push_back(int&&)        std::vector<int>::push_back
//   net/http.(*Client).Do                     net/http.(*Client).Do
//   Lorg/shop/Cart;::sum->Lorg/shop/Item;::price
//                                             org/shop/Cart:::sum ; org/shop/Item:::price_[i]
//   [unknown] in /usr/lib/libc.so.6           [libc.so.6]
//
// docs/folded.md lists the intentional differences from that script.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stacks/stack_profile.h"

namespace sonde {

struct SpellingOptions {
  bool pid = false;        // the root is "comm-PID"
  bool tid = false;        // the root is "comm-PID/TID"
  bool kernel = false;     // marks "_[k]"
  bool jit = false;        // marks "_[j]"
  bool inlined = false;    // marks "_[i]"; code inlined by a JIT is always marked
  bool addresses = false;  // code without a symbol shows its address
  bool lines = false;      // "name:file.c:12" instead of "name"
  bool tidy = true;        // omits parameters of functions, as is customary (parameter_list.h)
};

/// One line of a call chain, as `script` shows it.
struct RawFrame {
  std::string_view function = {};  // "read", without its offset; "[unknown]"
  std::string_view object = {};    // path, or "[kernel.kallsyms]", "[unknown]"
  uint64_t address = 0;            // as shown
  std::string_view line = {};      // "file.c:12"; empty if not known
  FrameKind kind = FrameKind::kUser;
  /// By our symbolizer: without parameters unless they are wanted, and the same as in reports.
  bool is_shown_name = false;
};

struct SpelledFrame {
  std::string name;
  FrameKind kind;
};

/// Appends the spelling of a frame, outermost first: usually one name, but a JIT's name may hold
/// several functions. No name is empty or contains a semicolon or a newline.
void spell_frame(const RawFrame& frame, const SpellingOptions& options,
                 std::vector<SpelledFrame>& out);
/// Makes another tool's name valid in a stack: without semicolons and newlines, and not empty.
[[nodiscard]] std::string clean_name(std::string_view name);
/// The kind of code in an object, judged by its path: kernel and modules, generated, otherwise
/// user.
[[nodiscard]] FrameKind kind_of_object(std::string_view object);
/// The root of a stack. Text does not always say which process a thread belongs to: then
/// "comm-?/TID".
[[nodiscard]] std::string spell_task(std::string_view comm, std::optional<uint32_t> pid,
                                     uint32_t tid, const SpellingOptions& options);

}  // namespace sonde
