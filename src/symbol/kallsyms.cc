#include "symbol/kallsyms.h"

#include <elf.h>

#include <algorithm>
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

/// One line taken apart. The name is in place; `name_end` is where its NUL goes.
struct Line {
  uint64_t address = 0;
  char type = 0;
  char* name = nullptr;
  char* name_end = nullptr;
  std::string_view module;  // without brackets
};

bool parse_line(char* at, char* end, Line& line) {
  const char* digits = at;
  uint64_t address = 0;
  for (; at < end; ++at) {
    int digit = *at >= '0' && *at <= '9'   ? *at - '0'
                : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                           : -1;
    if (digit < 0) break;
    address = address << 4 | static_cast<uint64_t>(digit);
  }
  if (at == digits || at - digits > 16) return false;
  if (end - at < 4 || at[0] != ' ' || at[2] != ' ') return false;
  line.address = address;
  line.type = at[1];
  line.name = at + 3;
  line.name_end = std::find_if(line.name, end, [](char c) { return c == '\t' || c == ' '; });
  if (line.name_end == line.name || *line.name == '\0') return false;
  line.module = {};
  std::string_view rest(line.name_end, static_cast<size_t>(end - line.name_end));
  size_t open = rest.find('[');
  size_t close = rest.find(']');
  if (open < close && close != std::string_view::npos)
    line.module = rest.substr(open, close - open + 1);
  return true;
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

Result<Kallsyms> Kallsyms::read(const std::string& path) {
  return parse(TRY(read_file(path)));
}

Kallsyms Kallsyms::parse(std::string given) {
  Kallsyms kallsyms;
  SymbolTableBuilder builder;
  std::string& text = builder.keep(std::move(given));
  if (!text.empty() && text.back() != '\n') text.push_back('\n');
  builder.reserve(text.size() / 40);
  ModuleIds modules(kallsyms.modules_);
  bool any = false;
  uint64_t all_bits = 0;

  char* end = text.data() + text.size();
  for (char* at = text.data(); at < end;) {
    char* line_end = std::find(at, end, '\n');
    Line line;
    bool good = parse_line(at, line_end, line);
    at = line_end + 1;
    if (!good) {
      ++kallsyms.bad_lines_;
      continue;
    }
    any = true;
    all_bits |= line.address;
    uint16_t module = modules.id(line.module);
    *line.name_end = '\0';
    if (*line.name == '$') continue;  // ARM mapping symbols of modules
    if (!is_wanted(line.type)) {
      kallsyms.left_out_.push_back({line.name, line.address});
      continue;
    }
    builder.add({.start = line.address,
                 .end = line.address,
                 .name_chars = line.name,
                 .module = module,
                 .type = type_of(line.type),
                 .binding = binding_of(line.type)});
  }

  kallsyms.restricted_ = any && all_bits == 0;
  if (kallsyms.restricted_) {
    kallsyms.left_out_.clear();
    return kallsyms;
  }
  builder.settle(FixupEnd::kKallsyms, [&kallsyms](const Symbol& dropped) {
    kallsyms.left_out_.push_back({dropped.name_chars, dropped.start});
  });
  kallsyms.table_ = std::move(builder).build();
  return kallsyms;
}

std::optional<uint64_t> Kallsyms::address_of(std::string_view name) const {
  if (restricted_) return std::nullopt;
  for (const Symbol& symbol : table_.symbols())
    if (symbol.name() == name) return symbol.start;
  for (const Left& left : left_out_)
    if (left.name == name) return left.address;
  return std::nullopt;
}

}  // namespace sonde
