// Splits a command given as one word of our own command line (`stat --vs 'make -s'`) into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sonde {

/// Splits at blanks, honouring a shell's quotes and backslashes, but runs no shell, which would be
/// measured too. So what only a shell can do ($, |, ;, *, > … outside of quotes) is an error
/// (kUsage) that says how to ask for one and names `option`.
Result<std::vector<std::string>> shell_words(std::string_view text, std::string_view option);

}  // namespace sonde
