#include "frame_layout.h"

#include <cstring>
#include <optional>
#include <vector>

namespace sonde_jvmti {
namespace {

/// Valid from an offset on: where the caller's stack pointer was, relative to ours.
struct Row {
  size_t offset;
  uint64_t cfa_from_rsp;
  bool rbp_saved;
};

uint32_t load32(std::string_view code, size_t at) {
  uint32_t value;
  std::memcpy(&value, code.data() + at, sizeof value);
  return value;
}

bool has(std::string_view code, size_t at, std::string_view bytes) {
  return code.size() >= at + bytes.size() && code.substr(at, bytes.size()) == bytes;
}

/// "sub $N,%rsp" or "add $N,%rsp" at `at`: N, and the offset of the next instruction.
struct Moved {
  uint64_t by;
  size_t next;
};
std::optional<Moved> stack_moved(std::string_view code, size_t at, char operation) {
  const char byte_form[] = {'\x48', '\x83', operation};
  const char word_form[] = {'\x48', '\x81', operation};
  if (has(code, at, {byte_form, 3}) && code.size() > at + 3 && (code[at + 3] & 0x80) == 0)
    return Moved{static_cast<uint8_t>(code[at + 3]), at + 4};
  if (has(code, at, {word_form, 3}) && code.size() >= at + 7)
    return Moved{load32(code, at + 3), at + 7};
  return std::nullopt;
}

constexpr char kSub = '\xec', kAdd = '\xc4';

/// Sets up the frame. It does not end before `rows.back()`.
struct Prologue {
  std::vector<Row> rows;
  uint64_t size = 0;  // the amount subtracted
};
std::optional<Prologue> find_prologue(std::string_view code) {
  // Before it come a check of the receiver's class, and a stack bang.
  constexpr size_t kFarthest = 128;
  constexpr uint64_t kLargest = 1 << 20;
  for (size_t at = 0; at < code.size() && at < kFarthest; ++at) {
    if (code[at] == '\x55') {  // push %rbp
      size_t next = at + 1;
      if (has(code, next, "\x48\x8b\xec") || has(code, next, "\x48\x89\xe5")) next += 3;
      auto moved = stack_moved(code, next, kSub);
      if (!moved || moved->by > kLargest) continue;
      return Prologue{{{0, 8, false}, {at + 1, 16, true}, {moved->next, 16 + moved->by, true}},
                      moved->by};
    }
    auto moved = stack_moved(code, at, kSub);
    if (!moved || moved->by < 8 || moved->by > kLargest) continue;
    uint64_t slot = moved->by - 8;
    bool saves = (has(code, moved->next, "\x48\x89\x6c\x24") && code.size() > moved->next + 4 &&
                  static_cast<uint8_t>(code[moved->next + 4]) == slot) ||
                 (has(code, moved->next, "\x48\x89\xac\x24") && code.size() >= moved->next + 8 &&
                  load32(code, moved->next + 4) == slot);
    if (!saves) continue;
    size_t saved_at = moved->next + (code[moved->next + 2] == '\x6c' ? 5 : 8);
    return Prologue{
        {{0, 8, false}, {moved->next, 8 + moved->by, false}, {saved_at, 8 + moved->by, true}},
        slot};
  }
  return std::nullopt;
}

/// Every "add $N,%rsp ; pop %rbp" with the frame's own size, up to the return after it.
void add_epilogues(std::string_view code, const Prologue& prologue, std::vector<Row>& rows) {
  constexpr size_t kLongestPoll = 32;
  Row whole = rows.back();
  for (size_t at = whole.offset; at < code.size(); ++at) {
    auto moved = stack_moved(code, at, kAdd);
    if (!moved || moved->by != prologue.size || !has(code, moved->next, "\x5d")) continue;
    size_t popped = moved->next + 1;
    size_t end = popped;
    while (end < code.size() && end < popped + kLongestPoll && code[end] != '\xc3') ++end;
    if (end == code.size() || code[end] != '\xc3') continue;  // no return: not an epilogue
    rows.push_back({moved->next, 16, true});
    rows.push_back({popped, 8, false});
    rows.push_back({end + 1, whole.cfa_from_rsp, true});
    at = end;
  }
}

class Table {
 public:
  template <typename T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void byte(unsigned value) { bytes_.push_back(static_cast<char>(value)); }
  void uleb(uint64_t value) {
    do {
      unsigned low = value & 0x7f;
      value >>= 7;
      byte(low | (value != 0 ? 0x80u : 0u));
    } while (value != 0);
  }
  /// Pads the entry that began at `start` to a multiple of eight, and writes its length.
  void finish_entry(size_t start) {
    while ((bytes_.size() - start) % 8 != 0) byte(0);  // DW_CFA_nop
    auto length = static_cast<uint32_t>(bytes_.size() - start - 4);
    std::memcpy(bytes_.data() + start, &length, sizeof length);
  }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// DWARF 5, section 6.4.2; the Linux Standard Base for what is specific to .eh_frame.
enum Instruction : unsigned {
  kAdvance4 = 0x04,
  kDefineCfa = 0x0c,
  kCfaOffset = 0x0e,
  kCfaExpression = 0x0f,
  kSavedExpression = 0x10,
  kSaved = 0x80,
  kRestore = 0xc0
};
constexpr unsigned kRbp = 6, kRsp = 7, kReturnAddress = 16;
constexpr unsigned kPcRelative4 = 0x1b;

void put_common(Table& table) {
  size_t start = table.size();
  table.put(uint32_t{0});
  table.put(uint32_t{0});  // a CIE
  table.byte(1);
  for (char c : {'z', 'R', '\0'}) table.byte(static_cast<unsigned char>(c));
  table.uleb(1);     // code alignment
  table.byte(0x78);  // data alignment: -8
  table.uleb(kReturnAddress);
  table.uleb(1);
  table.byte(kPcRelative4);
  table.byte(kDefineCfa);
  table.uleb(kRsp);
  table.uleb(8);
  table.byte(kSaved | kReturnAddress);
  table.uleb(1);
  table.finish_entry(start);
}

void put_rows(Table& table, const std::vector<Row>& rows) {
  Row before = rows.front();
  for (size_t i = 1; i < rows.size(); ++i) {
    const Row& row = rows[i];
    if (row.offset > before.offset) {
      table.byte(kAdvance4);
      table.put(static_cast<uint32_t>(row.offset - before.offset));
    }
    if (row.cfa_from_rsp != before.cfa_from_rsp) {
      table.byte(kCfaOffset);
      table.uleb(row.cfa_from_rsp);
    }
    if (row.rbp_saved && !before.rbp_saved) {
      table.byte(kSaved | kRbp);
      table.uleb(2);
    } else if (!row.rbp_saved && before.rbp_saved) {
      table.byte(kRestore | kRbp);
    }
    before = row;
  }
}

/// %rbp points to the caller's %rbp and the return address.
void put_interpreter_frame(Table& table) {
  constexpr unsigned kRbpPlus = 0x76, kDereference = 0x06;  // DW_OP_breg6, DW_OP_deref
  constexpr unsigned kMinus8 = 0x78, kPlus8 = 0x08;         // signed LEB128
  for (unsigned value :
       {unsigned{kCfaExpression}, 3u, kRbpPlus, kMinus8, kDereference, unsigned{kSavedExpression},
        kRbp, 2u, kRbpPlus, 0u, unsigned{kSavedExpression}, kReturnAddress, 2u, kRbpPlus, kPlus8})
    table.byte(value);
}

/// The CIE, and an FDE for the code with what `put` adds.
template <typename Put>
std::string make_table(std::string_view code, const Put& put) {
  Table table;
  put_common(table);
  size_t start = table.size();
  table.put(uint32_t{0});
  table.put(static_cast<uint32_t>(start + 4));  // back to the CIE
  size_t behind_code = (code.size() + 7) & ~size_t{7};
  table.put(-static_cast<int32_t>(behind_code + table.size()));
  table.put(static_cast<uint32_t>(code.size()));
  table.uleb(0);
  put(table);
  table.finish_entry(start);
  table.put(uint32_t{0});  // the terminator
  table.put(uint32_t{0});  // and to a multiple of eight
  return table.take();
}

#if defined(__x86_64__)
constexpr bool kKnowsFrames = true;
#else
constexpr bool kKnowsFrames = false;
#endif

}  // namespace

std::string make_eh_frame(std::string_view code) {
  if (!kKnowsFrames) return {};
  auto prologue = find_prologue(code);
  if (!prologue) return {};
  std::vector<Row> rows = prologue->rows;
  add_epilogues(code, *prologue, rows);
  return make_table(code, [&](Table& table) { put_rows(table, rows); });
}

std::string make_stub_eh_frame(std::string_view name, std::string_view code) {
  if (!kKnowsFrames) return {};
  if (name == "Interpreter") return make_table(code, put_interpreter_frame);
  // They jump on without a frame of their own.
  if (name == "itable stub" || name == "vtable stub") return make_table(code, [](Table&) {});
  return {};
}

}  // namespace sonde_jvmti
