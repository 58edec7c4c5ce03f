// Names of events in lists for completion, and in the build-id cache's files of USDT probes: each
// is there as it is, or not at all, and none has a character that means something to a shell.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/foreign/plain_name.h"
#include "base/text.h"
#include "fuzz/fuzz_target.h"
#include "probe/usdt/sdt_cache.h"

namespace {

/// What bash, zsh or fish act on somewhere, and what steers a terminal.
bool is_safe(std::string_view name) {
  constexpr std::string_view kOfShells = " \t\n\r\v\f\"'`$\\!#%&()*;<>?@[]^{|}~+";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return c > ' ' && c < '\x7f' && !kOfShells.contains(c);
  });
}

}  // namespace

FUZZ_TARGET(completion)(const uint8_t* data, size_t size) {
  using namespace sonde;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<std::string_view> names = split(input, '\0');
  std::string list;
  std::vector<std::string_view> expected;
  for (std::string_view name : names) {
    append_completion_word(list, name);
    if (is_safe(name)) expected.push_back(name);
    CHECK(!is_plain_name(name) || is_completion_word(name));
    for (char c : printable_name(name)) CHECK(c >= ' ' && c <= '~');
  }
  std::vector<std::string_view> words = split(list, ' ');
  CHECK(words.back().empty());
  words.pop_back();
  CHECK(words == expected);
  for (const std::string& name : sdt_cache_names(input)) {
    CHECK(is_plain_name(name) && is_safe(name));
    CHECK(input.contains("%" + name));
  }
  return 0;
}
