#include "symbol/jit_dump.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/text.h"
#include "symbol/generated_name.h"

namespace sonde {
namespace {

constexpr uint32_t kMagic = 0x4A695444;  // "JiTD"
constexpr uint32_t kVersion = 1;
constexpr uint64_t kFlagCycles = 1;
constexpr size_t kRecordHeader = 16;
constexpr size_t kMinHeaderSize = 40;
constexpr size_t kMinLineSize = 8 + 4 + 4 + 1;
// V8 adds the size of an ELF header to line addresses.
constexpr uint64_t kV8LineShift = 0x40;

enum RecordId : uint32_t { kLoad = 0, kMove = 1, kDebugInfo = 2, kClose = 3, kUnwindingInfo = 4 };

/// The characters up to a NUL, which is required.
std::string_view take_string(ByteCursor& cursor, bool& good) {
  ByteCursor ahead = cursor;
  std::string_view rest = as_text(ahead.rest());
  size_t size = rest.find('\0');
  good = size != std::string_view::npos;
  if (!good) return {};
  cursor.skip(size + 1);
  return rest.substr(0, size);
}

}  // namespace

class JitDumpParser {
 public:
  explicit JitDumpParser(JitDump& dump) : dump_(dump) {}

  Result<size_t> read_header() {
    Bytes all = whole();
    if (all.size() < kMinHeaderSize) return fail(ErrorCode::kCorrupt, "incomplete header");
    JitDump::Header& header = dump_.header_;
    header.order = ByteOrder::kLittle;
    if (load<uint32_t>(all.data(), ByteOrder::kBig) == kMagic)
      header.order = ByteOrder::kBig;
    else if (load<uint32_t>(all.data(), ByteOrder::kLittle) != kMagic)
      return fail(ErrorCode::kCorrupt, "not a jitdump");
    ByteCursor cursor(all, header.order);
    cursor.skip(4);
    uint32_t version = cursor.u32();
    uint32_t size = cursor.u32();
    if (version > kVersion)
      return fail(ErrorCode::kUnsupported, "unknown jitdump version {}", version);
    header.elf_machine = cursor.u32();
    cursor.skip(4);
    header.pid = cursor.u32();
    header.time_ns = cursor.u64();
    header.counts_cycles = (cursor.u64() & kFlagCycles) != 0;
    if (size < kMinHeaderSize || size > all.size())
      return fail(ErrorCode::kCorrupt, "invalid header size: {} bytes", size);
    return size;
  }

  void read_records(size_t at) {
    Bytes all = whole();
    while (all.size() - at >= kRecordHeader) {
      ByteCursor cursor(all.subspan(at), dump_.header_.order);
      uint32_t id = cursor.u32();
      uint32_t size = cursor.u32();
      uint64_t time = cursor.u64();
      if (size < kRecordHeader) {  // the start of the next one is unknown
        ++dump_.bad_records_;
        break;
      }
      if (size > all.size() - at) break;
      ByteCursor content(all.subspan(at + kRecordHeader, size - kRecordHeader),
                         dump_.header_.order);
      if (!read_record(id, time, content)) ++dump_.bad_records_;
      at += size;
    }
    dump_.end_ = dump_.base_ + at;
  }

 private:
  [[nodiscard]] Bytes whole() const {
    return as_bytes(std::string_view(dump_.bytes_.data(), dump_.bytes_.size()));
  }
  [[nodiscard]] uint64_t offset_of(Bytes part) const {
    return dump_.base_ + static_cast<uint64_t>(part.data() - whole().data());
  }

  bool read_record(uint32_t id, uint64_t time, ByteCursor content) {
    switch (id) {
      case kLoad:
        return read_load(time, content);
      case kMove:
        return read_move(time, content);
      case kDebugInfo:
        lines_ = content;
        return true;
      case kUnwindingInfo:
        return read_unwinding(content);
      case kClose:
        dump_.closed_ = true;
        return true;
      default:
        return true;  // from a newer writer
    }
  }

  bool read_load(uint64_t time, ByteCursor& content) {
    JitDump::Code code;
    code.time_ns = time;
    code.pid = content.u32();
    code.tid = content.u32();
    content.skip(8);  // where it would have been in the object it came from
    code.address = content.u64();
    code.size = content.u64();
    code.index = content.u64();
    bool good = false;
    code.name = take_string(content, good).substr(0, kMaxGeneratedName);
    Bytes bytes = content.take(code.size);
    bool whole_record = good && content.ok() && code.address + code.size >= code.address;
    if (whole_record) {
      code.offset = offset_of(bytes);
      code.unwinding = unwinding_;
      code.unwinding_header_size = unwinding_header_size_;
      code.unwinding_mapped_size = unwinding_mapped_size_;
      if (!read_lines(code)) ++dump_.bad_records_;
      dump_.codes_.push_back(code);
      place({time, code.address, dump_.codes_.size() - 1});
    }
    lines_.reset();
    unwinding_ = {};
    unwinding_header_size_ = unwinding_mapped_size_ = 0;
    return whole_record;
  }

  bool read_move(uint64_t time, ByteCursor& content) {
    content.skip(4 + 4 + 8);
    uint64_t from = content.u64();
    uint64_t to = content.u64();
    uint64_t size = content.u64();
    uint64_t index = content.u64();
    if (!content.ok()) return false;
    if (latest_.empty())
      for (const JitDump::Placed& placed : dump_.placed_) note(placed);
    auto found = latest_.find({index, from, size});
    if (found == latest_.end()) return false;
    place({time, to, found->second});
    return true;
  }

  void place(const JitDump::Placed& placed) {
    dump_.placed_.push_back(placed);
    if (!latest_.empty()) note(placed);
  }
  void note(const JitDump::Placed& placed) {
    const JitDump::Code& code = dump_.codes_[placed.code];
    latest_.insert_or_assign({code.index, placed.address, code.size}, placed.code);
  }

  /// Reads the lines that preceded `code`, if they belong to it.
  bool read_lines(JitDump::Code& code) {
    code.first_line = dump_.lines_.size();
    if (!lines_) return true;
    ByteCursor content = *lines_;
    uint64_t address = content.u64();
    uint64_t count = content.u64();
    if (!content.ok() || !content.fits(count, kMinLineSize)) return false;
    if (address != code.address) return true;
    bool v8 = is_v8_function(code.name);
    uint64_t shift = v8 ? kV8LineShift : 0;
    ByteCursor behind = content;
    bool good = read_named_lines(behind, count, shift);
    if (good && v8) good = are_inside(code);
    if (good) read_frames(behind, code.first_line);
    if (!good) {
      dump_.lines_.resize(code.first_line);
      good = v8 && read_v8_lines(content, count, v8_file(code.name));
      if (good) good = are_inside(code);
      if (!good) dump_.lines_.resize(code.first_line);
    }
    code.line_count = dump_.lines_.size() - code.first_line;
    auto own = std::span(dump_.lines_).subspan(code.first_line);
    if (!std::ranges::is_sorted(own, {}, &JitDump::Line::address))
      std::ranges::stable_sort(own, {}, &JitDump::Line::address);
    return good;
  }

  /// Reads what libsonde-jvmti.so adds (agents/jvmti/dump_writer.cc): strings, then for each line
  /// its functions. If damaged, it is ignored.
  void read_frames(ByteCursor content, size_t first_line) {
    constexpr std::string_view kName = "SondeInl";
    if (as_text(content.take(kName.size())) != kName) return;
    uint32_t count = content.u32();
    if (!content.fits(count, 1)) return;
    std::vector<std::string_view> strings;
    bool good = true;
    for (uint32_t i = 0; i < count && good; ++i) strings.push_back(take_string(content, good));
    auto string_at = [&](uint32_t number) {
      good = good && number < strings.size();
      return good ? strings[number] : std::string_view();
    };
    size_t first_frame = dump_.frames_.size();
    good = good && content.u32() == dump_.lines_.size() - first_line;
    for (size_t i = first_line; i < dump_.lines_.size() && good; ++i) {
      constexpr size_t kFrameSize = 12;
      uint32_t frames = content.u32();
      if (!content.ok() || !content.fits(frames, kFrameSize)) good = false;
      JitDump::Line& line = dump_.lines_[i];
      line.first_frame = dump_.frames_.size();
      for (uint32_t n = 0; n < frames && good; ++n) {
        std::string_view function = string_at(content.u32());
        std::string_view file = string_at(content.u32());
        dump_.frames_.push_back({function, file, content.u32()});
      }
      line.frame_count = dump_.frames_.size() - line.first_frame;
    }
    if (good) return;
    dump_.frames_.resize(first_frame);
    for (size_t i = first_line; i < dump_.lines_.size(); ++i)
      dump_.lines_[i].first_frame = dump_.lines_[i].frame_count = 0;
  }

  bool read_named_lines(ByteCursor& content, uint64_t count, uint64_t shift) {
    std::string_view file;
    for (uint64_t i = 0; i < count; ++i) {
      JitDump::Line line = take_line(content, shift);
      bool good = false;
      std::string_view name = take_string(content, good);
      if (!good || !content.ok()) return false;
      if (name != "\xff") file = name;  // the same as the previous one
      line.file = file;
      dump_.lines_.push_back(line);
    }
    return true;
  }

  /// "JS:" since Node 20; before that, the way the function was compiled.
  static bool is_v8_function(std::string_view name) {
    constexpr std::string_view kKinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};
    return std::ranges::any_of(kKinds, [name](auto kind) { return name.starts_with(kind); });
  }

  /// V8 in Node 18 and 20 writes as many bytes as the file's name has, but not the name. The name
  /// is also in the function's name. For further lines, Node 18 says that the file is the same.
  bool read_v8_lines(ByteCursor content, uint64_t count, std::string_view file) {
    constexpr size_t kPadding = 8;
    constexpr std::string_view kSameFile("\xff\0", 2);
    if (file.empty()) return false;
    for (uint64_t i = 0; i < count; ++i) {
      JitDump::Line line = take_line(content, kV8LineShift);
      ByteCursor ahead = content;
      bool is_same = i > 0 && as_text(ahead.take(kSameFile.size())) == kSameFile;
      content.skip(is_same ? kSameFile.size() : file.size() + 1);
      if (!content.ok()) return false;
      line.file = file;
      dump_.lines_.push_back(line);
    }
    return content.left() < kPadding;
  }

  /// "/srv/app.js" from "JS:*render /srv/app.js:12:7", or from "LazyCompile:*render
  /// /srv/app.js:12".
  static std::string_view v8_file(std::string_view name) {
    size_t blank = name.find(' ');
    if (blank == std::string_view::npos) return {};
    std::string_view file = name.substr(blank + 1);
    for (int i = 0; i < 2; ++i) {
      size_t colon = file.rfind(':');
      if (colon == std::string_view::npos || !parse_number(file.substr(colon + 1))) break;
      file = file.substr(0, colon);
    }
    return file;
  }

  [[nodiscard]] bool are_inside(const JitDump::Code& code) const {
    return std::ranges::all_of(
        dump_.lines_.begin() + static_cast<ptrdiff_t>(code.first_line), dump_.lines_.end(),
        [&](const JitDump::Line& line) { return line.address - code.address <= code.size; });
  }

  static JitDump::Line take_line(ByteCursor& content, uint64_t shift) {
    JitDump::Line line;
    line.address = content.u64() - shift;
    line.line = content.u32();
    line.discriminator = content.u32();
    return line;
  }

  bool read_unwinding(ByteCursor& content) {
    uint64_t size = content.u64();
    unwinding_header_size_ = content.u64();
    unwinding_mapped_size_ = content.u64();
    unwinding_ = content.take(size);
    if (content.ok() && unwinding_header_size_ <= size) return true;
    unwinding_ = {};
    unwinding_header_size_ = unwinding_mapped_size_ = 0;
    return false;
  }

  JitDump& dump_;
  /// The latest code by its number, address and size. Created at the first move: few dumps have
  /// moves, but those that do have many.
  std::map<std::tuple<uint64_t, uint64_t, uint64_t>, size_t> latest_;
  // For the next code record.
  std::optional<ByteCursor> lines_;
  Bytes unwinding_;
  uint64_t unwinding_header_size_ = 0, unwinding_mapped_size_ = 0;
};

Result<JitDump> JitDump::parse(std::string bytes) {
  JitDump dump;
  dump.bytes_.assign(bytes.begin(), bytes.end());
  JitDumpParser parser(dump);
  parser.read_records(TRY(parser.read_header()));
  return dump;
}

JitDump JitDump::parse_more(const JitDump& before, std::string bytes) {
  JitDump dump;
  dump.bytes_.assign(bytes.begin(), bytes.end());
  dump.base_ = before.end_;
  dump.header_ = before.header_;
  JitDumpParser(dump).read_records(0);
  return dump;
}

Bytes JitDump::bytes_of(const Code& code) const {
  return as_bytes(std::string_view(bytes_.data(), bytes_.size()))
      .subspan(static_cast<size_t>(code.offset - base_), static_cast<size_t>(code.size));
}

bool is_jit_dump_name(std::string_view path) {
  constexpr std::string_view kBefore = "jit-", kBehind = ".dump";
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) return false;
  if (name.size() <= kBefore.size() + kBehind.size()) return false;
  std::string_view pid = name.substr(kBefore.size(), name.size() - kBefore.size() - kBehind.size());
  return std::ranges::all_of(pid, [](char c) { return '0' <= c && c <= '9'; });
}

}  // namespace sonde
