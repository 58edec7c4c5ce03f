#include "lock/lock_names.h"

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "symbol/kallsyms_lines.h"

namespace sonde {

LockNames LockNames::of_text(std::string_view kallsyms) {
  LockNames names{std::string()};
  names.is_read_ = true;
  names.parse(kallsyms);
  return names;
}

void LockNames::parse(std::string_view text) {
  KallsymsLines lines(text);
  constexpr std::string_view kDataTypes = "bBdD";
  for (KallsymsLine line; lines.next(line);)
    if (line.address != 0 && line.is_wanted())
      variables_.push_back({line.address, std::string(line.name()),
                            kDataTypes.find(line.type) != std::string_view::npos});
  std::ranges::stable_sort(variables_, {}, &Variable::address);
}

void LockNames::read() {
  if (std::exchange(is_read_, true)) return;
  if (auto text = read_file(path_)) parse(*text);
}

std::string LockNames::name(uint64_t address) {
  read();
  auto after = std::ranges::upper_bound(variables_, address, {}, &Variable::address);
  // The last one has no end.
  if (after == variables_.begin() || after == variables_.end()) return {};
  const Variable& found = *std::prev(after);
  return found.is_data ? found.name : std::string();
}

Result<std::vector<uint64_t>> LockNames::addresses(std::span<const std::string> words) {
  std::vector<uint64_t> addresses;
  for (const std::string& word : words) {
    std::string_view digits = word;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    if (auto number = parse_hex(digits)) {
      addresses.push_back(*number);
      continue;
    }
    read();
    auto found = std::ranges::find(variables_, word, &Variable::name);
    if (found == variables_.end())
      return fail(ErrorCode::kUsage, "Error: '{}' is neither an address nor a lock of the kernel",
                  word);
    addresses.push_back(found->address);
  }
  return addresses;
}

}  // namespace sonde
