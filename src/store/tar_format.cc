#include "store/tar_format.h"

#include <algorithm>

#include "base/text.h"

namespace sonde {
namespace {

// pax(1), "ustar Interchange Format".
constexpr size_t kNameSize = 100;
constexpr size_t kChecksumAt = 148;
constexpr size_t kChecksumSize = 8;
constexpr uint64_t kMaxNameBytes = 64 * 1024;
constexpr char kLongName = 'L';  // GNU: the content is the next member's name
constexpr char kLongTarget = 'K';

void put_field(std::string_view text, size_t size, ByteBuilder& out) {
  text = text.substr(0, size);
  out.text(text);
  out.zeros(size - text.size());
}

/// Octal digits with a trailing zero byte; GNU's base 256 if they don't fit.
void put_number(uint64_t number, size_t size, ByteBuilder& out) {
  std::string digits = fmt::format("{:0{}o}", number, size - 1);
  if (digits.size() < size) return put_field(digits, size, out);
  for (size_t i = 0; i < size; ++i) {
    size_t shift = (size - 1 - i) * 8;
    auto byte = static_cast<uint8_t>(shift < 64 ? number >> shift : 0);
    out.u8(static_cast<uint8_t>(i == 0 ? byte | 0x80 : byte));
  }
}

uint64_t checksum_of(Bytes header) {
  uint64_t sum = 0;
  for (size_t i = 0; i < header.size(); ++i) {
    bool inside = i >= kChecksumAt && i < kChecksumAt + kChecksumSize;
    sum += inside ? ' ' : std::to_integer<uint64_t>(header[i]);
  }
  return sum;
}

void put_plain_header(const TarMember& member, char type, ByteBuilder& out) {
  ByteBuilder header;
  put_field(member.name, kNameSize, header);
  put_number(member.mode, 8, header);
  put_number(0, 8, header);  // root's
  put_number(0, 8, header);
  put_number(member.size, 12, header);
  put_number(static_cast<uint64_t>(std::max<int64_t>(member.modified_s, 0)), 12, header);
  put_field("        ", kChecksumSize, header);
  header.u8(static_cast<uint8_t>(type));
  put_field(member.target, kNameSize, header);
  header.text("ustar  ");  // GNU's magic
  header.zeros(kTarBlock - header.size());
  std::string sum = fmt::format("{:06o}", checksum_of(header.view()));
  for (size_t i = 0; i < sum.size(); ++i)
    header.patch(kChecksumAt + i, static_cast<uint8_t>(sum[i]));
  header.patch(kChecksumAt + sum.size(), uint8_t{0});
  out.bytes(header.view());
}

void put_long(std::string_view text, char type, ByteBuilder& out) {
  put_plain_header({.name = "././@LongLink", .size = text.size() + 1}, type, out);
  out.text(text);
  out.zeros(1 + tar_padding(text.size() + 1));
}

std::optional<uint64_t> number_in(Bytes field) {
  uint64_t number = 0;
  if (!field.empty() && (std::to_integer<uint8_t>(field[0]) & 0x80) != 0) {
    for (size_t i = 0; i < field.size(); ++i) {
      auto byte = std::to_integer<uint64_t>(field[i]);
      if (i == 0) byte &= 0x7f;
      if (number >> 56 != 0) return std::nullopt;
      number = number << 8 | byte;
    }
    return number;
  }
  std::string_view text = as_text(field);
  text = trim(text.substr(0, text.find('\0')));
  for (char c : text) {
    if (c < '0' || c > '7' || number >> 61 != 0) return std::nullopt;
    number = number << 3 | static_cast<uint64_t>(c - '0');
  }
  return number;
}

struct Header {
  TarMember member;
  char type = 0;
};

std::optional<Header> parse_header(Bytes block) {
  ByteCursor in(block);
  Header header;
  TarMember& member = header.member;
  member.name = in.fixed_string(kNameSize);
  auto mode = number_in(in.take(8));
  in.skip(16);
  auto size = number_in(in.take(12));
  auto modified = number_in(in.take(12));
  auto checksum = number_in(in.take(kChecksumSize));
  header.type = static_cast<char>(in.u8());
  member.target = in.fixed_string(kNameSize);
  std::string_view magic = as_text(in.take(8));
  in.skip(80);  // owners, devices
  std::string_view prefix = in.fixed_string(155);
  if (!mode || !size || !modified || !checksum || *checksum != checksum_of(block) ||
      !magic.starts_with("ustar"))
    return std::nullopt;
  bool posix = magic == std::string_view("ustar\00000", 8);
  if (posix && !prefix.empty()) member.name = fmt::format("{}/{}", prefix, member.name);
  member.mode = static_cast<uint32_t>(*mode & 07777);
  member.size = *size;
  member.modified_s = static_cast<int64_t>(std::min<uint64_t>(*modified, INT64_MAX));
  if (header.type == 0) header.type = '0';
  return header;
}

bool is_zero(Bytes block) {
  return std::ranges::all_of(block, [](std::byte byte) { return byte == std::byte{}; });
}

}  // namespace

void put_tar_header(const TarMember& member, ByteBuilder& out) {
  if (member.target.size() > kNameSize) put_long(member.target, kLongTarget, out);
  if (member.name.size() > kNameSize) put_long(member.name, kLongName, out);
  put_plain_header(member, static_cast<char>(member.type), out);
}

Result<std::optional<TarMember>> TarReader::next(bool headers_only) {
  std::optional<std::string> long_name, long_target;
  while (in_.left() >= kTarBlock) {
    size_t at = in_.position();
    Bytes block = in_.take(kTarBlock);
    if (is_zero(block)) return std::nullopt;
    auto header = parse_header(block);
    if (!header) return fail(ErrorCode::kCorrupt, "no tar header at offset {:#x}", at);
    TarMember& member = header->member;
    bool has_content = header->type != '2' && header->type != '5';
    content_offset_ = in_.position();
    bool is_long = header->type == kLongName || header->type == kLongTarget;
    if (has_content && member.size <= in_.left())
      member.content = in_.take(member.size);
    else if (has_content && (!headers_only || is_long))
      return fail(ErrorCode::kCorrupt, "{} extends past the end of the archive", member.name);
    if (has_content) in_.take(std::min<uint64_t>(tar_padding(member.size), in_.left()));
    if (is_long) {
      if (member.size > kMaxNameBytes)
        return fail(ErrorCode::kCorrupt, "a name is too long: {} bytes", member.size);
      std::string text(as_text(member.content));
      text.resize(std::min(text.size(), text.find('\0')));
      (header->type == kLongName ? long_name : long_target) = std::move(text);
      continue;
    }
    if (long_name) member.name = std::move(*long_name);
    if (long_target) member.target = std::move(*long_target);
    long_name.reset();
    long_target.reset();
    if (header->type != '0' && header->type != '2' && header->type != '5') continue;
    member.type = static_cast<TarType>(header->type);
    return std::move(member);
  }
  return std::nullopt;
}

}  // namespace sonde
