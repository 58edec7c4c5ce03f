#include "capture/unwinding/interpreters/interpreted_functions.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"
#include "perfdata/records/record_encoder.h"

namespace sonde {
namespace {

constexpr size_t kMostFunctions = size_t{1} << 20;
/// Line numbers of a function that differ by more are taken for nonsense.
constexpr uint32_t kMostLines = uint32_t{1} << 22;
constexpr std::string_view kUnread = "[name could not be read]";
constexpr std::array<std::string_view, INTERPRETERS> kNoFile = {"[python]", "[ruby]"};

void append_utf8(uint32_t code, std::string& text) {
  auto tail = [&](uint32_t shift) {
    text.push_back(static_cast<char>(0x80 | (code >> shift & 0x3f)));
  };
  if (code < 0x80) {
    text.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text.push_back(static_cast<char>(0xc0 | code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text.push_back(static_cast<char>(0xe0 | code >> 12));
    tail(6);
    tail(0);
  } else {
    text.push_back(static_cast<char>(0xf0 | (code >> 18 & 7)));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// A string that should be UTF-8.
std::string text_of_bytes(std::string_view bytes, bool is_cut) {
  // What is cut off in the middle of a character is no damage.
  if (is_cut && bytes.size() - valid_utf8_prefix(bytes) < 4)
    bytes = bytes.substr(0, valid_utf8_prefix(bytes));
  std::string text = to_utf8(bytes);
  for (char& byte : text)
    if (static_cast<unsigned char>(byte) < 0x20) byte = '?';
  return text;
}

/// A string whose characters all have the same width, or a string of bytes. What was cut ends in
/// "…".
std::string text_of(const uint8_t* bytes, size_t most_bytes, uint32_t length, uint32_t width) {
  if (width == CODE_TEXT_IS_BYTES) {
    std::string_view all(reinterpret_cast<const char*>(bytes),
                         std::min<size_t>(length, most_bytes));
    return text_of_bytes(all, length > most_bytes) + (length > most_bytes ? "…" : "");
  }
  std::string text;
  size_t count = std::min<size_t>(length, most_bytes / width);
  for (size_t i = 0; i < count; ++i) {
    uint32_t code = 0;
    for (uint32_t byte = 0; byte < width; ++byte)
      code |= uint32_t{bytes[i * width + byte]} << 8 * byte;
    append_utf8(code < 0x20 ? '?' : code, text);
  }
  if (count < length) text += "…";
  return text;
}

interpreter interpreter_in(uint64_t frame) {
  return (frame >> (CODE_UNIT_BITS + CODE_NUMBER_BITS) & 1) != 0 ? INTERPRETER_RUBY
                                                                 : INTERPRETER_PYTHON;
}

}  // namespace

InterpretedFunctions::InterpretedFunctions(StackWalker& walker, abi::EventAttr attr)
    : walker_(walker), attr_(attr) {}

void InterpretedFunctions::place(std::span<uint64_t> chain, const Sample& sample,
                                 std::vector<std::byte>& records) {
  std::lock_guard lock(mutex_);
  for (uint64_t& address : chain) {
    if (!is_frame(address)) continue;
    uint64_t number = address >> CODE_UNIT_BITS & ((uint64_t{1} << CODE_NUMBER_BITS) - 1);
    interpreter of = interpreter_in(address);
    Code code = code_of(of, number, sample.id.pid);
    const Function& function = functions_[code.function];
    address = address_of(function, static_cast<uint32_t>(address & CODE_NO_UNIT));
    ++figures_[of].frames;
    // Records of other CPUs may come later, and be of an earlier time.
    auto [since, is_new] = code.mapped->try_emplace(function.file, sample.id.time);
    if (!is_new && since->second <= sample.id.time) continue;
    since->second = sample.id.time;
    event_id_ = sample.id.id;
    ByteBuilder mapping;
    map(function.file, sample.id, mapping);
    records.insert(records.end(), mapping.view().begin(), mapping.view().end());
  }
}

/// A description comes before the first chain that refers to it, but by another way.
InterpretedFunctions::Code InterpretedFunctions::code_of(interpreter of, uint64_t number,
                                                         uint32_t pid) {
  auto found = codes_.find(number);
  if (found == codes_.end() && number != 0) {
    take_descriptions();
    found = codes_.find(number);
  }
  if (found != codes_.end()) return found->second;
  ++figures_[of].without_name;
  return {.function = unread_function(of), .mapped = &processes_[{pid, 0}]};
}

void InterpretedFunctions::take_descriptions() {
  walker_.take_codes([this](const code_description& code, Bytes lines) { take(code, lines); });
}

void InterpretedFunctions::take(const code_description& code, Bytes lines) {
  if (code.name_width == 0 || code.file_width == 0 || code.interpreter >= INTERPRETERS) return;
  std::string name = text_of(code.name, sizeof code.name, code.name_length, code.name_width);
  std::string path = text_of(code.file, sizeof code.file, code.file_length, code.file_width);
  if (path.empty()) path = kNoFile[code.interpreter];
  CodeLines::Form form{.format = code.line_table, .is_cut = lines.size() < code.line_bytes};
  // Ruby says that a whole file begins at line 0.
  uint32_t first_line = std::max(code.first_line, code.interpreter == INTERPRETER_RUBY ? 1u : 0u);
  codes_[code.number] = {
      .function = add_function(static_cast<interpreter>(code.interpreter), std::move(name),
                               std::move(path), first_line, lines, form),
      .mapped = &processes_[{code.pid, code.memory}]};
}

uint32_t InterpretedFunctions::add_function(interpreter of, std::string name, std::string path,
                                            uint32_t first_line, Bytes lines,
                                            CodeLines::Form form) {
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{:x}", name, path, first_line, form.format,
                                std::hash<std::string_view>{}(as_text(lines)));
  if (auto known = function_numbers_.find(key); known != function_numbers_.end())
    return known->second;
  // Beyond the limit functions have no name, rather than another's.
  if (functions_.size() >= kMostFunctions && name != kUnread) return unread_function(of);
  auto next = static_cast<uint32_t>(functions_.size());
  function_numbers_.emplace(std::move(key), next);
  Function function{.first_line = first_line, .lines = CodeLines(lines, first_line, form)};
  uint32_t lowest = function.lines.lowest(), highest = function.lines.highest();
  function.has_lines = first_line > 0 && highest - lowest < kMostLines;
  uint32_t line_count = function.has_lines ? highest - lowest + 1 : 0;
  uint64_t bytes = uint64_t{line_count} + 1;
  function.file = file_of(path, bytes);
  function.place = std::exchange(used_bytes_[function.file], used_bytes_[function.file] + bytes);
  files_[function.file].functions.push_back({.place = function.place,
                                             .first_line = lowest,
                                             .line_count = line_count,
                                             .name = std::move(name)});
  functions_.push_back(std::move(function));
  if (form.is_cut) ++figures_[of].cut_tables;
  return next;
}

uint32_t InterpretedFunctions::unread_function(interpreter of) {
  return add_function(of, std::string(kUnread), std::string(kNoFile[of]), 0, {}, {});
}

/// The file's number, with room for so many more addresses: when they are used up, the file gets
/// another range.
uint32_t InterpretedFunctions::file_of(const std::string& path, uint64_t bytes) {
  auto next = static_cast<uint32_t>(files_.size());
  auto [known, is_new] = file_numbers_.try_emplace(path, next);
  if (!is_new && used_bytes_[known->second] + bytes <= kInterpretedFileBytes) return known->second;
  known->second = next;
  uint64_t start = kInterpretedBase + uint64_t{next} * kInterpretedFileBytes;
  files_.push_back({.path = path, .start = start, .functions = {}});
  used_bytes_.push_back(0);
  return next;
}

uint64_t InterpretedFunctions::address_of(const Function& function, uint32_t unit) const {
  uint64_t start = files_[function.file].start + function.place;
  if (!function.has_lines) return start;
  std::optional<uint32_t> line =
      unit == CODE_NO_UNIT ? std::optional(function.first_line) : function.lines.line_at(unit);
  return line ? start + 1 + (*line - function.lines.lowest()) : start;
}

void InterpretedFunctions::map(uint32_t file, const SampleId& id, ByteBuilder& out) const {
  MmapRecord mapping{};
  mapping.pid = mapping.tid = id.pid;
  mapping.start = RuntimeAddr(files_[file].start);
  mapping.length = kInterpretedFileBytes;
  mapping.offset = FileOffset(files_[file].start - kInterpretedBase);
  mapping.path = files_[file].path;
  mapping.protection = PROT_READ | PROT_EXEC;
  mapping.flags = MAP_PRIVATE;
  mapping.is_v2 = true;
  encode(mapping, {.misc = abi::kMiscUser, .attr = &attr_, .id = id}, out);
}

void InterpretedFunctions::map_all(ByteBuilder& out) const {
  std::lock_guard lock(mutex_);
  for (const auto& [process, mapped] : processes_)
    for (const auto& [file, since] : mapped) {
      SampleId id;
      id.pid = id.tid = process.first;
      id.time = since;
      id.id = event_id_;
      map(file, id, out);
    }
}

void InterpretedFunctions::look() {
  std::lock_guard lock(mutex_);
  take_descriptions();
}

void InterpretedFunctions::restart() {
  std::lock_guard lock(mutex_);
  for (auto& [process, mapped] : processes_) mapped.clear();
}

std::vector<InterpretedFile> InterpretedFunctions::files() const {
  std::lock_guard lock(mutex_);
  return files_;
}

std::vector<InterpretedFile> InterpretedFunctions::new_files() {
  std::lock_guard lock(mutex_);
  std::vector<InterpretedFile> grown;
  if (std::exchange(all_given_, functions_.size()) == functions_.size()) return grown;
  functions_given_.resize(files_.size());
  for (size_t i = 0; i < files_.size(); ++i) {
    const std::vector<InterpretedFile::Function>& functions = files_[i].functions;
    size_t given = std::exchange(functions_given_[i], functions.size());
    if (given < functions.size())
      grown.push_back(
          {.path = files_[i].path,
           .start = files_[i].start,
           .functions = {functions.begin() + static_cast<ptrdiff_t>(given), functions.end()}});
  }
  return grown;
}

InterpretedFunctions::Figures InterpretedFunctions::figures(interpreter of) const {
  std::lock_guard lock(mutex_);
  return figures_[of];
}

}  // namespace sonde
