// File metadata: stat, statx, statfs, directory entries.
#include "trace/arguments/arg_context.h"

namespace sonde {
namespace {

bool is_device(uint64_t mode) {
  return makes_device(mode);
}

void append_device(std::string& out, uint64_t major, uint64_t minor) {
  out += "makedev(";
  append_hex(out, major);
  out += ", ";
  append_hex(out, minor);
  out += ')';
}

// st_rdev as in struct stat: the low 12 bits of the major number above the low 8 of the minor, the
// remaining bits higher up (linux/kdev_t.h).
void append_stat_device(std::string& out, uint64_t dev) {
  append_device(out, (dev >> 8 & 0xfff) | (dev >> 32 & ~uint64_t{0xfff}),
                (dev & 0xff) | (dev >> 12 & ~uint64_t{0xff}));
}

void append_stat(std::string& out, uint64_t mode, uint64_t rdev, int64_t size) {
  StructText text(out);
  append_file_mode(text.field("st_mode"), mode);
  if (is_device(mode))
    append_stat_device(text.field("st_rdev"), rdev);
  else
    text.number("st_size", size);
  text.cut();
  text.end();
}

}  // namespace

// asm/stat.h of x86-64; asm-generic/stat.h of arm64, where mode and link count have 32 bits each
// and precede the owners.
void print_stat(ArgContext& context) {
  bool is_arm = context.event.abi == SyscallAbi::kArm64;
  print_structure(context, is_arm ? 128 : 144, [&](std::string& out, ByteCursor& cursor) {
    cursor.skip(16);
    if (!is_arm) cursor.skip(8);
    uint64_t mode = cursor.u32();
    cursor.skip(12);
    uint64_t rdev = cursor.u64();
    if (is_arm) cursor.skip(8);
    append_stat(out, mode, rdev, static_cast<int64_t>(cursor.u64()));
  });
}

// asm/stat.h of i386 and arm; arm aligns a long long to 8 bytes.
void print_stat64(ArgContext& context) {
  bool is_arm = context.event.abi == SyscallAbi::kArm;
  print_structure(context, 96, [&](std::string& out, ByteCursor& cursor) {
    cursor.skip(16);
    uint64_t mode = cursor.u32();
    cursor.skip(12);
    uint64_t rdev = cursor.u64();
    cursor.skip(is_arm ? 8 : 4);
    append_stat(out, mode, rdev, static_cast<int64_t>(cursor.u64()));
  });
}

// linux/stat.h
void print_statx(ArgContext& context) {
  print_structure(context, 256, [](std::string& out, ByteCursor& cursor) {
    uint32_t mask = cursor.u32();
    cursor.skip(4);
    uint64_t attributes = cursor.u64();
    cursor.skip(12);
    uint16_t mode = cursor.u16();
    cursor.skip(2 + 8);
    uint64_t size = cursor.u64();
    cursor.skip(8 + 8 + 4 * 16);
    uint32_t major = cursor.u32(), minor = cursor.u32();
    StructText text(out);
    text.flags("stx_mask", WordSet::k_statx_mask, mask)
        .flags("stx_attributes", WordSet::k_statx_attributes, attributes);
    append_file_mode(text.field("stx_mode"), mode);
    if (is_device(mode))
      append_device(text.field("stx_rdev"), major, minor);
    else
      text.count("stx_size", size);
    text.cut();
    text.end();
  });
}

namespace {

void append_statfs(std::string& out, ByteCursor& cursor, bool is_32) {
  StructText text(out);
  uint64_t type = read_word(cursor, is_32), block = read_word(cursor, is_32);
  std::string_view name = word_of(WordSet::k_filesystem, type);
  if (name.empty())
    text.hex("f_type", type);
  else
    text.field("f_type") += name;
  text.count("f_bsize", block);
  for (std::string_view field : {"f_blocks", "f_bfree", "f_bavail", "f_files", "f_ffree"})
    text.count(field, cursor.u64());
  std::string& fsid = text.field("f_fsid");
  fsid += "{val=[";
  append_hex(fsid, cursor.u32());
  fsid += ", ";
  append_hex(fsid, cursor.u32());
  fsid += "]}";
  uint64_t name_bytes = read_word(cursor, is_32), fragment = read_word(cursor, is_32);
  text.count("f_namelen", name_bytes).count("f_frsize", fragment);
  text.flags("f_flags", WordSet::k_statfs_flags, read_word(cursor, is_32)).end();
}

}  // namespace

// asm-generic/statfs.h
void print_statfs(ArgContext& context) {
  print_structure(context, 120,
                  [](std::string& out, ByteCursor& cursor) { append_statfs(out, cursor, false); });
}
void print_statfs64(ArgContext& context) {
  print_structure(context, 84,
                  [](std::string& out, ByteCursor& cursor) { append_statfs(out, cursor, true); });
}

namespace {

// Counts the records; each holds its own length, at `length_at`.
void append_entry_count(ArgContext& context, size_t length_at) {
  append_pointer(context.out, context.value);
  const ArgMemory* memory = context.memory();
  if (!context.has_succeeded() || (memory == nullptr && context.event.result != 0)) return;
  uint64_t entries = 0;
  ByteCursor cursor(memory == nullptr ? Bytes{} : memory->bytes);
  while (cursor.left() > length_at) {
    ByteCursor record = cursor;
    record.skip(length_at);
    uint16_t length = record.u16();
    if (length == 0 || length > cursor.left()) break;
    cursor.skip(length);
    entries++;
  }
  bool is_cut = cursor.position() < static_cast<uint64_t>(context.event.result);
  context.out += " /* ";
  append_unsigned(context.out, entries);
  context.out += is_cut ? "+ entries */" : " entries */";
}

}  // namespace

void print_dirents(ArgContext& context) {
  append_entry_count(context, context.is_32() ? 8 : 16);
}
void print_dirents64(ArgContext& context) {
  append_entry_count(context, 16);
}

}  // namespace sonde
