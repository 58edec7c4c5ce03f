// Bytes that come in pieces: a mapped file, a descriptor that is read to its end, and what is
// packed in either of them. Readers take pieces as they come, or all of them at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sonde {

class PieceSource {
 public:
  virtual ~PieceSource() = default;
  /// The next bytes, valid until the next call; none: the end.
  virtual Result<std::string_view> next() = 0;
  /// Whether the first piece is all there is, and stays valid.
  [[nodiscard]] virtual bool is_one_piece() const { return false; }
};

/// Bytes that lie in memory, as one piece. They must outlive it.
std::unique_ptr<PieceSource> pieces_of_memory(std::string_view bytes);
/// `name` is of the file, for messages. The descriptor stays open.
std::unique_ptr<PieceSource> pieces_of_descriptor(int fd, std::string name);

/// A source whose beginning can be looked at.
class Pieces final : public PieceSource {
 public:
  Pieces(std::unique_ptr<PieceSource> source, std::string name)
      : source_(std::move(source)), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  /// The first `size` bytes of what is still to come; fewer only at its end.
  Result<std::string_view> peek(size_t size);
  Result<std::string_view> next() override;
  /// All that is still to come, valid as long as this. An error where that is more than `limit`.
  Result<std::string_view> all(size_t limit);

 private:
  std::unique_ptr<PieceSource> source_;
  std::string name_;
  std::string held_;
  std::string_view waiting_;  // was looked at; in held_, or the source's own
};

/// What gzip packed, also in several parts. Damage is an error that names the file.
std::unique_ptr<PieceSource> gunzipped(Pieces& packed);
[[nodiscard]] bool is_gzip(std::string_view first_bytes);

}  // namespace sonde
