#include "script/x86_instruction.h"

#include <algorithm>
#include <string_view>

namespace sonde::script {
namespace {

// What follows an opcode, a letter each, sixteen opcodes a line:
//   .  nothing            M  ModRM                m  ModRM, one byte     Z  ModRM, 2 or 4 bytes
//   b  one byte           w  two bytes            z  2 or 4 bytes        v  2, 4 or 8 bytes
//   j  a distance of 4 bytes (2 in 16-bit code)   o  an address          e  three bytes
//   f  a far address      g  ModRM, one byte for TEST                    G  the same, 2 or 4 bytes
//   x  no instruction (or a prefix, which is not looked up here)
constexpr std::string_view kOneByte =
    "MMMMbz..MMMMbz.x"
    "MMMMbz..MMMMbz.."
    "MMMMbzx.MMMMbzx."
    "MMMMbzx.MMMMbzx."
    "................"
    "................"
    "..MMxxxxzZbm...."
    "bbbbbbbbbbbbbbbb"
    "mZmmMMMMMMMMMMMM"
    "..........f....."
    "oooo....bz......"
    "bbbbbbbbvvvvvvvv"
    "mmw.MMmZe.w..b.."
    "MMMMbb..MMMMMMMM"
    "bbbbbbbbjjfb...."
    "x.xx..gG......MM";
constexpr std::string_view kTwoBytes =  // behind 0f
    "MMMMx.....x.xM.m"
    "MMMMMMMMMMMMMMMM"
    "MMMMxxxxMMMMMMMM"
    "......x.xxxxxxxx"
    "MMMMMMMMMMMMMMMM"
    "MMMMMMMMMMMMMMMM"
    "MMMMMMMMMMMMMMMM"
    "mmmmMMM.MMxxMMMM"
    "jjjjjjjjjjjjjjjj"
    "MMMMMMMMMMMMMMMM"
    "...MmMxx...MmMMM"
    "MMMMMMMMMMmMMMMM"
    "MMmMmmmM........"
    "MMMMMMMMMMMMMMMM"
    "MMMMMMMMMMMMMMMM"
    "MMMMMMMMMMMMMMMM";
static_assert(kOneByte.size() == 256 && kTwoBytes.size() == 256);

/// 1: opcodes behind 0f, 2: behind 0f 38, 3: behind 0f 3a; the vector prefixes number them, too.
enum Map : uint8_t { kMapOne = 0, kMapTwo = 1, kMap38 = 2, kMap3a = 3 };

class Decoder {
 public:
  Decoder(Bytes bytes, bool is_64_bit)
      : bytes_(bytes.first(std::min(bytes.size(), kLongestX86Instruction))), wide_(is_64_bit) {}

  X86Instruction decode() {
    read_prefixes();
    uint8_t map = kMapOne;
    uint8_t opcode = next();
    bool vector = is_vector_prefix(opcode);
    if (vector) {
      map = read_vector_prefix(opcode);
      opcode = next();
    } else if (opcode == 0x0f) {
      opcode = next();
      map = opcode == 0x38 ? kMap38 : opcode == 0x3a ? kMap3a : kMapTwo;
      if (map != kMapTwo) opcode = next();
    }
    char shape = shape_of(map, opcode, vector);
    skip_operands(shape);
    if (overrun_ || shape == 'x') return {};
    return {at_, !vector && is_branch(map, opcode)};
  }

 private:
  uint8_t next() {
    if (at_ < bytes_.size()) return static_cast<uint8_t>(bytes_[at_++]);
    overrun_ = true;
    return 0;
  }
  [[nodiscard]] uint8_t peek() const {
    return at_ < bytes_.size() ? static_cast<uint8_t>(bytes_[at_]) : uint8_t{0};
  }
  void skip(size_t size) {
    at_ += size;
    if (at_ > bytes_.size()) overrun_ = true;
  }

  void read_prefixes() {
    for (bool more = true; more && !overrun_;) {
      switch (peek()) {
        case 0x66:
          short_operand_ = true;
          break;
        case 0x67:
          other_address_ = true;
          break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x64:
        case 0x65:
        case 0xf0:
        case 0xf2:
        case 0xf3:
          break;
        default:
          more = false;
      }
      if (more) next();
    }
    if (wide_ && (peek() & 0xf0) == 0x40) rex_w_ = (next() & 8) != 0;
  }

  /// c5, c4 and 62 are instructions of their own in 32-bit code where no register follows.
  [[nodiscard]] bool is_vector_prefix(uint8_t opcode) const {
    return (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62) && (wide_ || peek() >= 0xc0);
  }

  uint8_t read_vector_prefix(uint8_t opcode) {
    uint8_t first = next();
    if (opcode == 0xc5) return kMapTwo;
    next();
    if (opcode == 0xc4) return first & 0x1f;
    next();
    return first & 7;
  }

  static char shape_of(uint8_t map, uint8_t opcode, bool vector) {
    switch (map) {
      case kMapOne:
        return vector ? 'x' : kOneByte[opcode];
      case kMapTwo:
        break;
      case kMap3a:
        return 'm';
      default:
        return 'M';
    }
    if (!vector) return kTwoBytes[opcode];
    if (opcode == 0x77) return '.';
    return kTwoBytes[opcode] == 'm' ? 'm' : 'M';
  }

  void skip_operands(char shape) {
    size_t number = short_operand_ && !rex_w_ ? 2 : 4;
    switch (shape) {
      case 'M':
        return skip_modrm();
      case 'm':
        skip_modrm();
        return skip(1);
      case 'Z':
        skip_modrm();
        return skip(number);
      case 'b':
        return skip(1);
      case 'w':
        return skip(2);
      case 'e':
        return skip(3);
      case 'z':
        return skip(number);
      case 'v':
        return skip(rex_w_ ? 8 : number);
      case 'j':
        return skip(wide_ ? 4 : number);
      case 'o':
        return skip(wide_ ? (other_address_ ? 4 : 8) : (other_address_ ? 2 : 4));
      case 'f':
        return skip(number + 2);
      case 'g':
      case 'G': {
        bool tests = (peek() >> 3 & 7) < 2;
        skip_modrm();
        if (tests) skip(shape == 'g' ? 1 : number);
        return;
      }
      default:
        return;
    }
  }

  void skip_modrm() {
    modrm_ = next();
    unsigned mode = modrm_ >> 6, base = modrm_ & 7;
    if (mode == 3) return;
    if (!wide_ && other_address_) return skip(mode == 1 ? 1 : mode == 2 || base == 6 ? 2 : 0);
    if (base == 4) base = next() & 7;  // SIB
    if (mode == 1) return skip(1);
    if (mode == 2 || base == 5) skip(4);
  }

  [[nodiscard]] bool is_branch(uint8_t map, uint8_t opcode) const {
    if (map == kMapTwo)
      return (opcode & 0xf0) == 0x80 || opcode == 0x05 || opcode == 0x07 || opcode == 0x34 ||
             opcode == 0x35;
    if (map != kMapOne) return false;
    if ((opcode & 0xf0) == 0x70) return true;  // conditional
    constexpr uint8_t kBranches[] = {0x9a, 0xc2, 0xc3, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf,
                                     0xe0, 0xe1, 0xe2, 0xe3, 0xe8, 0xe9, 0xea, 0xeb};
    if (std::ranges::find(kBranches, opcode) != std::end(kBranches)) return true;
    unsigned operation = modrm_ >> 3 & 7;
    return opcode == 0xff && 2 <= operation && operation <= 5;  // through a pointer
  }

  Bytes bytes_;
  bool wide_;
  bool short_operand_ = false;  // 66
  bool other_address_ = false;  // 67
  bool rex_w_ = false;
  bool overrun_ = false;
  uint8_t modrm_ = 0;
  size_t at_ = 0;
};

}  // namespace

X86Instruction decode_x86(Bytes bytes, bool is_64_bit) {
  return Decoder(bytes, is_64_bit).decode();
}

}  // namespace sonde::script
