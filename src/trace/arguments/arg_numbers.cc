// Numbers: the call decides what they mean, this file how they are written.
#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

// The register is wider than the int in it.
int32_t as_int(const ArgContext& context) {
  return static_cast<int32_t>(context.value);
}

struct ModeBits {
  std::string_view name;
  uint32_t bits;
};
// In perf's order: bits shared by user, group and others before those of one class.
constexpr ModeBits kModeBits[] = {
    {"IALLUGO", 07777}, {"IRUGO", 0444},     {"IWUGO", 0222},    {"IXUGO", 0111},
    {"IFMT", 0170000},  {"IFSOCK", 0140000}, {"IFLNK", 0120000}, {"IFREG", 0100000},
    {"IFBLK", 0060000}, {"IFDIR", 0040000},  {"IFCHR", 0020000}, {"IFIFO", 0010000},
    {"ISUID", 04000},   {"ISGID", 02000},    {"ISVTX", 01000},   {"IRWXU", 0700},
    {"IRUSR", 0400},    {"IWUSR", 0200},     {"IXUSR", 0100},    {"IRWXG", 070},
    {"IRGRP", 040},     {"IWGRP", 020},      {"IXGRP", 010},     {"IRWXO", 07},
    {"IROTH", 04},      {"IWOTH", 02},       {"IXOTH", 01},
};

void append_perf_mode(std::string& out, uint32_t mode, bool has_prefix) {
  size_t before = out.size();
  for (const ModeBits& bits : kModeBits) {
    if ((mode & bits.bits) != bits.bits) continue;
    if (out.size() != before) out += '|';
    if (has_prefix) out += "S_";
    out += bits.name;
    mode &= ~bits.bits;
  }
  if (mode == 0 && out.size() != before) return;
  if (out.size() != before) out += '|';
  append_hex(out, mode);
}

}  // namespace

void print_int(ArgContext& context) {
  append_decimal(context.out, as_int(context));
}
void print_uint(ArgContext& context) {
  append_unsigned(context.out, static_cast<uint32_t>(context.value));
}
void print_long(ArgContext& context) {
  append_decimal(context.out,
                 context.is_32() ? as_int(context) : static_cast<int64_t>(context.value));
}
void print_ulong(ArgContext& context) {
  append_unsigned(context.out, context.value);
}
void print_offset(ArgContext& context) {
  append_decimal(context.out, static_cast<int64_t>(context.value));
}
void print_offset_high(ArgContext& context) {
  append_unsigned(context.out, context.value);
}
void print_uint64(ArgContext& context) {
  append_hex(context.out, context.value);
}
void print_hex(ArgContext& context) {
  // Mostly addresses.
  append_pointer(context.out, context.value);
}
void print_hex_int(ArgContext& context) {
  append_hex(context.out, static_cast<uint32_t>(context.value));
}
void print_pointer(ArgContext& context) {
  append_pointer(context.out, context.value);
}
void print_map_offset(ArgContext& context) {
  append_hex(context.out, context.value);
}

void print_mode(ArgContext& context) {
  auto mode = static_cast<uint32_t>(context.value);
  bool is_mask = context.call.result == ResultType::k_mode;
  if (context.is_perf() && !is_mask)
    return append_perf_mode(context.out, mode, context.style.show_prefixes);
  append_file_mode(context.out, mode & UINT16_MAX);
}
void print_open_mode(ArgContext& context) {
  print_mode(context);
}

void append_file_mode(std::string& out, uint64_t mode) {
  std::string_view type = word_of(WordSet::k_file_type, mode & 0170000);
  if (!type.empty()) {
    out += type;
    out += '|';
    mode &= 07777;
    for (const ModeBits& bits : kModeBits) {
      bool is_special = bits.bits == 04000 || bits.bits == 02000 || bits.bits == 01000;
      if (!is_special || (mode & bits.bits) == 0) continue;
      out += "S_";
      out += bits.name;
      out += '|';
    }
    mode &= 0777;
  }
  // At least three digits, with a leading zero, as modes are usually written.
  size_t before = out.size();
  append_octal(out, mode);
  while (out.size() - before < 3) out.insert(before, 1, '0');
}

void print_pid(ArgContext& context) {
  int32_t pid = as_int(context);
  append_decimal(context.out, pid);
  if (!context.is_perf() || pid <= 0) return;
  std::string_view comm = context.fds.comm(pid);
  if (comm.empty()) return;
  context.out += " (";
  append_name(context.out, comm);
  context.out += ')';
}

void print_id(ArgContext& context) {
  // -1: leave unchanged.
  if (static_cast<uint32_t>(context.value) == UINT32_MAX)
    context.out += "-1";
  else
    append_unsigned(context.out, static_cast<uint32_t>(context.value));
}

void print_dev(ArgContext& context) {
  // As the kernel encodes it for user space: new_encode_dev() in linux/kdev_t.h.
  uint64_t dev = context.value;
  context.out += "makedev(";
  append_hex(context.out, (dev >> 8) & 0xfff);
  context.out += ", ";
  append_hex(context.out, (dev & 0xff) | ((dev >> 12) & 0xfff00));
  context.out += ')';
}

}  // namespace sonde
