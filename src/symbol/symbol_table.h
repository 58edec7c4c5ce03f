// SymbolTable: the functions of one object (or of the kernel, or of a JIT) by address. Built once,
// then immutable: any number of threads may look up symbols.
//
//   SymbolTableBuilder builder;
//   builder.add({.start = 0x1000, .end = 0x1010, .name_chars = "main",
//                .type = STT_FUNC, .binding = STB_GLOBAL});
//   SymbolTable table = std::move(builder).build();
//   const Symbol* symbol = table.find(0x1004);   // main
//
// The addresses are those of the source: ELF addresses for an object's table, kernel addresses for
// kallsyms, process addresses for a perf map. Symbol pointers and names are valid as long as the
// table, even after it is moved.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/large_vector.h"
#include "base/sorting/radix_order.h"

namespace sonde {

struct FunctionRange;

struct Symbol {
  uint64_t start = 0;
  uint64_t end = 0;             // the first address after the symbol
  const char* name_chars = "";  // as in the source (mangled)
  uint32_t name_size = kUntilNul;
  uint16_t module = 0;  // kallsyms: index into Kallsyms::modules(); 0 everywhere else
  uint8_t type = 0;     // STT_*
  uint8_t binding = 0;  // STB_*

  /// For sources that NUL-terminate names: the length is not counted until it is needed.
  static constexpr uint32_t kUntilNul = UINT32_MAX;

  [[nodiscard]] std::string_view name() const {
    return name_size == kUntilNul ? std::string_view(name_chars)
                                  : std::string_view(name_chars, name_size);
  }
  /// A function that only call frame information tells of has none; it is named by its object and
  /// its start (frame_function_name), when it is shown.
  [[nodiscard]] bool has_name() const { return name_chars != nullptr; }
  [[nodiscard]] uint64_t size() const { return end - start; }
};

/// The owner of the characters of the names: any movable object; lives on the heap until the table
/// is destroyed.
class NameStorage {
 public:
  virtual ~NameStorage() = default;
};
template <typename T>
class NameStorageOf : public NameStorage {
 public:
  explicit NameStorageOf(T value) : value_(std::move(value)) {}
  T& value() { return value_; }

 private:
  T value_;
};

class SymbolTable {
 public:
  SymbolTable() = default;
  SymbolTable(SymbolTable&&) = default;
  SymbolTable& operator=(SymbolTable&&) = default;

  /// The symbol whose range contains `address`; if nested, the innermost. Null if there is none.
  [[nodiscard]] const Symbol* find(uint64_t address) const;
  [[nodiscard]] const Symbol* find(ElfAddr address) const { return find(address.value); }
  /// The symbols with exactly this (mangled) name, in address order. A linear scan: for command
  /// lines, not for samples.
  [[nodiscard]] std::vector<const Symbol*> find_by_name(std::string_view name) const;
  /// In address order.
  [[nodiscard]] std::span<const Symbol> symbols() const { return symbols_; }
  [[nodiscard]] size_t size() const { return symbols_.size(); }
  [[nodiscard]] bool empty() const { return symbols_.empty(); }
  /// A symbol's index in symbols(): a small id, stable for the table's life.
  [[nodiscard]] uint32_t index_of(const Symbol& symbol) const {
    return static_cast<uint32_t>(&symbol - symbols_.data());
  }

 private:
  friend class SymbolTableBuilder;
  LargeVector<uint64_t> starts_;  // symbols_[i].start, dense, for the search
  LargeVector<Symbol> symbols_;
  std::vector<uint32_t>
      enclosing_;  // empty where no symbols overlap; else the next wider symbol before i, or i
  std::vector<std::unique_ptr<NameStorage>> storage_;
};

/// The end of a symbol without a size.
enum class FixupEnd : uint8_t {
  kElf,       // up to the next symbol
  kKallsyms,  // the same, but at the end of the kernel and of each module only to the end of the
              // page
};

/// Collects symbols in any order and resolves what sources leave open: aliases at one address and
/// missing sizes.
class SymbolTableBuilder {
 public:
  void reserve(size_t count) { pending_.reserve(count); }
  void add(const Symbol& symbol) { pending_.push_back(symbol); }
  /// Takes ownership of what holds the names; returns its new address.
  template <typename T>
  T& keep(T value) {
    auto holder = std::make_unique<NameStorageOf<T>>(std::move(value));
    T& kept = holder->value();
    storage_.push_back(std::move(holder));
    return kept;
  }
  /// Gives all symbols added so far their end, then keeps the best one at each address. More may be
  /// added afterwards and either settled again (.dynsym after .symtab) or left as they are (PLT
  /// entries).
  void finalize(FixupEnd rule);
  /// Whether the last settle kept a symbol of this name at this address. Requires that settle was
  /// called and nothing was added since.
  [[nodiscard]] bool has_settled(uint64_t start, std::string_view name) const;
  /// Adds these functions, which have no names, where no symbol is known to be; a symbol whose end
  /// was a guess ends where the next of them begins. In address order.
  void fill_gaps(std::span<const FunctionRange> functions);
  /// Later symbols replace the overlapping parts of earlier ones (JIT compilers reuse memory).
  void settle_last_wins();
  SymbolTable build() &&;

 private:
  void sort_pending();
  void fix_ends(FixupEnd rule);
  void drop_duplicates();

  LargeVector<Symbol> pending_;
  std::vector<uint64_t> guessed_;  // starts of ELF symbols without a size
  OrderBuffers buffers_;
  std::vector<std::unique_ptr<NameStorage>> storage_;
};

/// Which of two symbols at one address perf shows: true for `a`, which came first.
bool prefer_first(const Symbol& a, const Symbol& b);

}  // namespace sonde
