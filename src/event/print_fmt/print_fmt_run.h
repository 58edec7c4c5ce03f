// Evaluates compiled print formats on the raw data of one sample.
#pragma once

#include <string>

#include "base/bytes.h"
#include "event/print_fmt/print_fmt_code.h"

namespace sonde {
struct PrintContext;
}

namespace sonde::print_fmt {

class Run {
 public:
  Run(const Code& code, Bytes raw, ByteOrder order, uint32_t word_size, const PrintContext& context,
      std::string& out)
      : code_(code),
        raw_(raw),
        order_(order),
        word_size_(word_size),
        context_(context),
        out_(out) {}

  /// Appends the output of the format with this index.
  void format(uint32_t index);

 private:
  [[nodiscard]] uint64_t number(uint32_t id) const;
  [[nodiscard]] uint64_t binary(const Node& node) const;
  [[nodiscard]] uint64_t load_integer(size_t offset, IntType type) const;
  [[nodiscard]] uint64_t load_integer(Bytes memory, uint64_t index, IntType type) const;
  [[nodiscard]] Bytes memory(uint32_t id) const;
  [[nodiscard]] Bytes dynamic(const Node& node) const;
  /// Memory from the start of the node's memory to the end of the raw data: %pI6 reads 16 bytes
  /// whatever its argument is.
  [[nodiscard]] Bytes memory_onwards(uint32_t id) const;

  void text(uint32_t id);
  void number_as_string(uint64_t address);
  void flags(const FlagTable& table, uint64_t value);
  void symbolic(const FlagTable& table, uint64_t value);
  void array(const Node& node);
  void hex_dump(const HexDump& dump);

  void piece(const Piece& piece);
  void character(const Piece& piece, int width);
  void string(const Piece& piece, int width, int precision);
  void pointer(const Piece& piece, int width, int precision);
  void symbol(uint64_t address, bool with_offset);
  void plain_pointer(uint64_t address);
  void error_name(uint64_t value);

  const Code& code_;
  Bytes raw_;
  ByteOrder order_;
  uint32_t word_size_;
  const PrintContext& context_;
  std::string& out_;
};

}  // namespace sonde::print_fmt
