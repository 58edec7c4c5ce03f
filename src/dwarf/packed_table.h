// Tables in one block of memory, with the same layout in a cache file and in the process:
// consecutive arrays of plain numbers, and a string heap.
//
//   TablePacker packer;                            TableReader reader(bytes);
//   packer.put<Row>(rows);                         reader.get(rows_);
//   bytes = std::move(packer).finish();            if (!reader.ok()) …
//
// A reader checks sizes and alignment; the numbers inside the arrays are checked by whoever follows
// them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tsl/robin_map.h>

#include "base/bytes.h"
#include "base/hashing/number_hash.h"
#include "dwarf/source_file.h"

namespace sonde {

/// Strings by offset. Offset 0 is the empty string.
class StringHeap {
 public:
  uint32_t add(std::string_view text) {
    if (text.empty()) return 0;
    auto [found, is_new] = offsets_.try_emplace(text, static_cast<uint32_t>(chars_.size()));
    if (is_new) {
      chars_.append(text);
      chars_ += '\0';
    }
    return found->second;
  }
  [[nodiscard]] std::span<const char> chars() const { return chars_; }

  static std::string_view at(std::span<const char> heap, uint32_t offset) {
    if (offset >= heap.size()) return {};
    std::string_view rest(heap.data() + offset, heap.size() - offset);
    return rest.substr(0, rest.find('\0'));
  }

 private:
  std::string chars_ = std::string(1, '\0');
  tsl::robin_map<std::string_view, uint32_t> offsets_;  // views of the caller's strings
};

/// A SourceFile, as offsets into a heap.
struct PackedFile {
  uint32_t base = 0, directory = 0, name = 0;
};

/// Files by their number in a line program; each is stored once, on first use.
class FileHeap {
 public:
  /// `file(number)` returns the file.
  template <typename File>
  uint32_t add(uint64_t number, StringHeap& strings, const File& file) {
    auto [found, is_new] = ids_.try_emplace(number, static_cast<uint32_t>(files_.size()));
    if (is_new) {
      SourceFile source = file(number);
      files_.push_back(
          {strings.add(source.base), strings.add(source.directory), strings.add(source.name)});
    }
    return found->second;
  }
  [[nodiscard]] std::span<const PackedFile> files() const { return files_; }

  static SourceFile at(std::span<const PackedFile> files, std::span<const char> heap,
                       uint32_t index) {
    if (index >= files.size()) return {};
    const PackedFile& file = files[index];
    return {StringHeap::at(heap, file.base), StringHeap::at(heap, file.directory),
            StringHeap::at(heap, file.name)};
  }

 private:
  std::vector<PackedFile> files_;
  tsl::robin_map<uint64_t, uint32_t, NumberHash> ids_;
};

class TablePacker {
 public:
  template <typename T>
  void put(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    uint64_t count = items.size();
    append(&count, sizeof count);
    append(items.data(), items.size_bytes());
    bytes_.resize((bytes_.size() + 7) & ~size_t{7});
  }
  [[nodiscard]] std::vector<std::byte> finish() && { return std::move(bytes_); }

 private:
  void append(const void* from, size_t size) {
    size_t at = bytes_.size();
    bytes_.resize(at + size);
    if (size > 0) std::memcpy(bytes_.data() + at, from, size);
  }
  std::vector<std::byte> bytes_;
};

class TableReader {
 public:
  /// `bytes` must be aligned to 8.
  explicit TableReader(Bytes bytes) : in_(bytes) {}
  template <typename T>
  void get(std::span<const T>& items) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);
    uint64_t count = in_.u64();
    if (!in_.fits(count, sizeof(T))) count = UINT64_MAX / sizeof(T);
    Bytes taken = in_.take(count * sizeof(T));
    items = {reinterpret_cast<const T*>(taken.data()), taken.size() / sizeof(T)};
    in_.skip((8 - count * sizeof(T) % 8) % 8);
  }
  [[nodiscard]] bool ok() const { return in_.ok(); }

 private:
  ByteCursor in_;
};

}  // namespace sonde
