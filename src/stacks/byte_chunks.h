// Bytes that arrive in chunks: a mapped file, a descriptor that is read to its end, or either of
// them decompressed. Readers take chunks as they come, or everything at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  /// The next bytes, valid until the next call; empty at the end.
  virtual Result<std::string_view> next() = 0;
  /// Whether the first chunk is everything, and stays valid.
  [[nodiscard]] virtual bool is_one_piece() const { return false; }
};

/// Bytes in memory, as one chunk. They must outlive the source.
std::unique_ptr<ChunkSource> pieces_of_memory(std::string_view bytes);
/// `name`: of the file, for messages. The descriptor stays open.
std::unique_ptr<ChunkSource> pieces_of_descriptor(int fd, std::string name);

/// A source whose beginning can be peeked at.
class Pieces final : public ChunkSource {
 public:
  Pieces(std::unique_ptr<ChunkSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The first `size` bytes of the remaining input; fewer only at its end.
  Result<std::string_view> peek(size_t size);
  Result<std::string_view> next() override;
  /// All remaining input, valid as long as this. Fails if it exceeds `limit`.
  Result<std::string_view> all(size_t limit);

 private:
  std::unique_ptr<ChunkSource> source_;
  std::string name_;
  std::string held_;
  std::string_view waiting_;  // peeked at; in held_, or the source's own
};

/// Decompresses gzip, including multi-member files. Corruption is an error that names the file; so
/// is a file that expands too much (base/expansion_allowance.h).
std::unique_ptr<ChunkSource> gunzipped(Pieces& packed);
[[nodiscard]] bool is_gzip(std::string_view first_bytes);

}  // namespace sonde
