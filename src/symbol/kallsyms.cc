#include "symbol/kallsyms.h"

#include <elf.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

#include "base/file.h"

namespace sonde {
namespace {

constexpr const char* kKernel = "[kernel.kallsyms]";
constexpr size_t kMaxModules = UINT16_MAX;

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

/// Text, weak text, data and bss, as perf takes them; read-only data and absolute symbols are not
/// places of code.
bool is_wanted(char type) {
  char upper = to_upper(type);
  return upper == 'T' || upper == 'W' || upper == 'D' || upper == 'B';
}

uint8_t binding_of(char type) {
  if (type == 'W' || type == 'w') return STB_WEAK;
  return is_upper(type) ? STB_GLOBAL : STB_LOCAL;
}

uint8_t type_of(char type) {
  char upper = to_upper(type);
  return upper == 'T' || upper == 'W' ? STT_FUNC : STT_OBJECT;
}

/// Values of hexadecimal digits; kNoDigit for all other characters.
constexpr uint8_t kNoDigit = 0x80;
constexpr std::array<uint8_t, 256> kDigits = [] {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (uint8_t i = 0; i < 10; ++i) digits['0' + i] = i;
  for (uint8_t i = 0; i < 6; ++i) digits['a' + i] = digits['A' + i] = static_cast<uint8_t>(10 + i);
  return digits;
}();

/// One line taken apart.
struct Line {
  uint64_t address = 0;
  char type = 0;
  std::string_view name;
  std::string_view module;  // with its brackets
};

bool parse_line(std::string_view text, Line& line) {
  size_t digits = 0;
  uint64_t address = 0;
  for (; digits < text.size(); ++digits) {
    uint8_t digit = kDigits[static_cast<uint8_t>(text[digits])];
    if (digit == kNoDigit) break;
    address = address << 4 | digit;
  }
  if (digits == 0 || digits > 16) return false;
  text.remove_prefix(digits);
  if (text.size() < 4 || text[0] != ' ' || text[2] != ' ') return false;
  line.address = address;
  line.type = text[1];
  line.name = text.substr(3);
  line.module = {};
  if (line.name.ends_with(']')) {
    std::string_view name = line.name.substr(0, line.name.find_first_of("\t "));
    std::string_view rest = line.name.substr(name.size());
    size_t open = rest.find('[');
    if (open != std::string_view::npos) line.module = rest.substr(open, rest.find(']') - open + 1);
    line.name = name;
  }
  return !line.name.empty() && line.name[0] != '\0';
}

/// Module names to small numbers. Lines of one module stand together, so the last answer is nearly
/// always right.
class ModuleIds {
 public:
  explicit ModuleIds(std::vector<std::string>& names) : names_(names) {
    names_.emplace_back(kKernel);
  }
  uint16_t id(std::string_view module) {
    if (module.empty()) return 0;
    if (names_[last_] == module) return last_;
    auto found = ids_.find(std::string(module));
    if (found == ids_.end()) {
      if (names_.size() >= kMaxModules) return 0;
      found = ids_.emplace(module, static_cast<uint16_t>(names_.size())).first;
      names_.emplace_back(module);
    }
    return last_ = found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint16_t> ids_;
  uint16_t last_ = 0;
};

}  // namespace

/// perf's copies are files; the kernel's own list has no size and must be read.
Result<Kallsyms> Kallsyms::read(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
    return parse(TRY(read_file(path)));
  SymbolTableBuilder builder;
  Bytes bytes = builder.keep(TRY(MappedFile::open(path))).bytes();
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, std::move(builder));
}

Kallsyms Kallsyms::parse(std::string given) {
  SymbolTableBuilder builder;
  std::string_view text = builder.keep(std::move(given));
  return parse(text, std::move(builder));
}

Kallsyms Kallsyms::parse(std::string_view text, SymbolTableBuilder builder) {
  constexpr size_t kUsualLine = 40;
  Kallsyms kallsyms;
  builder.reserve(text.size() / kUsualLine);
  ModuleIds modules(kallsyms.modules_);
  bool any = false;
  uint64_t all_bits = 0;

  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    Line line;
    bool good = parse_line(text.substr(at, end - at), line);
    at = end + 1;
    if (!good) {
      ++kallsyms.bad_lines_;
      continue;
    }
    any = true;
    all_bits |= line.address;
    uint16_t module = modules.id(line.module);
    if (!is_wanted(line.type) || line.name[0] == '$') continue;  // '$': marks in ARM modules
    builder.add({.start = line.address,
                 .end = line.address,
                 .name_chars = line.name.data(),
                 .name_size = static_cast<uint32_t>(line.name.size()),
                 .module = module,
                 .type = type_of(line.type),
                 .binding = binding_of(line.type)});
  }

  kallsyms.restricted_ = any && all_bits == 0;
  if (kallsyms.restricted_) return kallsyms;
  builder.settle(FixupEnd::kKallsyms);
  kallsyms.text_ = text;
  kallsyms.table_ = std::move(builder).build();
  return kallsyms;
}

std::optional<uint64_t> Kallsyms::address_of(std::string_view name) const {
  std::string pattern = " " + std::string(name);
  for (std::string_view rest = text_; !rest.empty();) {
    const void* found = ::memmem(rest.data(), rest.size(), pattern.data(), pattern.size());
    if (found == nullptr) return std::nullopt;
    auto at = static_cast<size_t>(static_cast<const char*>(found) - text_.data());
    size_t start = text_.rfind('\n', at) + 1;  // npos + 1: the first line
    Line line;
    if (parse_line(text_.substr(start, text_.find('\n', at) - start), line) && line.name == name)
      return line.address;
    rest = text_.substr(at + 1);
  }
  return std::nullopt;
}

}  // namespace sonde
