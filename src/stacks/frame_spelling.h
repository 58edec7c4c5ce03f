// How frames are spelled in folded stacks and in what is drawn from them: as the widely used
// collapsing script spells them, whether they come from a recording or from the text of `script`.
//
//   std::vector<int>::push_back(int&&)        std::vector<int>::push_back
//   net/http.(*Client).Do                     net/http.(*Client).Do
//   Lorg/shop/Cart;::sum->Lorg/shop/Item;::price
//                                             org/shop/Cart:::sum ; org/shop/Item:::price_[i]
//   [unknown] in /usr/lib/libc.so.6           [libc.so.6]
//
// What differs from that script on purpose stands in docs/folded.md.
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
  bool inlined = false;    // marks "_[i]"; what a JIT inlined has its mark always
  bool addresses = false;  // what has no symbol shows its address
  bool lines = false;      // "name:file.c:12" instead of "name"
  bool tidy = true;        // arguments of functions are cut off, as everybody is used to
};

/// One line of a call chain as `script` shows it.
struct RawFrame {
  std::string_view function = {};  // "read", without its offset; "[unknown]"
  std::string_view object = {};    // path, or "[kernel.kallsyms]", "[unknown]"
  uint64_t address = 0;            // as shown
  std::string_view line = {};      // "file.c:12"; empty where it is not known
  FrameKind kind = FrameKind::kUser;
};

struct SpelledFrame {
  std::string name;
  FrameKind kind;
};

/// Appends what stands for a frame, the outermost first: usually one; a JIT's names may hold
/// several functions. No name is empty or holds a semicolon or the end of a line.
void spell_frame(const RawFrame& frame, const SpellingOptions& options,
                 std::vector<SpelledFrame>& out);
/// Another tool's name, as it may stand in a stack: without semicolons and ends of lines, and not
/// empty.
[[nodiscard]] std::string clean_name(std::string_view name);
/// What the path of an object says of its code: kernel and modules, generated, otherwise user.
[[nodiscard]] FrameKind kind_of_object(std::string_view object);
/// The root of a stack. Texts do not always say which process a thread is of: then "comm-?/TID".
[[nodiscard]] std::string spell_task(std::string_view comm, std::optional<uint32_t> pid,
                                     uint32_t tid, const SpellingOptions& options);

}  // namespace sonde
