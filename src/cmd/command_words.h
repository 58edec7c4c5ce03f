// A command that is one word of our own command line (`stat --vs 'make -s'`) as its words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// Divided at blanks, with a shell's quotes and backslashes, but without a shell: it would be
/// measured too. So what only a shell can do ($, |, ;, *, > … outside of quotes) is an error
/// (kUsage) that says how to ask for one; `option` is named in it.
Result<std::vector<std::string>> command_words(std::string_view text, std::string_view option);

}  // namespace sonde
