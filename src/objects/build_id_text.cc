#include "objects/build_id_text.h"

#include "base/files/regular_file.h"
#include "base/text.h"

namespace sonde {

std::optional<std::string> build_id_of_digits(std::string_view digits) {
  constexpr size_t kLeast = 16, kMost = 40;
  if (digits.size() % 2 != 0 || digits.size() < kLeast || digits.size() > kMost)
    return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    auto byte = parse_hex(digits.substr(i, 2));
    if (!byte) return std::nullopt;
    bytes.push_back(static_cast<char>(*byte));
  }
  return bytes;
}

Result<std::vector<std::string>> read_build_ids(const std::string& file) {
  std::vector<std::string> ids;
  std::string text = TRY(read_stream(file));
  for (std::string_view line : split(text, '\n')) {
    line = trim(line);
    if (line.empty()) continue;
    std::optional<std::string> id = build_id_of_digits(line);
    if (!id) return fail(ErrorCode::kUsage, "{}: '{}' is not a build id", file, line);
    ids.push_back(std::move(*id));
  }
  return ids;
}

}  // namespace sonde
