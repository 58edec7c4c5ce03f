// Small tools shared by the export writers: the frames of a stack, numbered strings, and text that
// is formatted in parallel.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tsl/robin_map.h>

#include "base/hashing/number_hash.h"
#include "base/parallel.h"
#include "base/sink.h"
#include "stacks/stack_profile.h"

namespace sonde {

/// The frames of a stack, as indices into StackProfile::frames.
class StackWalk {
 public:
  explicit StackWalk(const StackProfile& profile) : profile_(profile) {}
  /// Innermost first; empty for an invalid node. Valid until the next call.
  [[nodiscard]] std::span<const uint32_t> from_leaf(StackNodeId node) {
    frames_.clear();
    for (; node.valid(); node = profile_.nodes[node.index()].parent)
      frames_.push_back(profile_.nodes[node.index()].frame.value);
    return frames_;
  }
  /// Outermost first.
  [[nodiscard]] std::span<const uint32_t> from_root(StackNodeId node) {
    (void)from_leaf(node);
    std::ranges::reverse(frames_);
    return frames_;
  }

 private:
  const StackProfile& profile_;
  std::vector<uint32_t> frames_;
};

/// Strings, numbered in order of first use.
class ExportStrings {
 public:
  explicit ExportStrings(const StackProfile& profile) : profile_(profile) {}
  /// An invalid id counts as the empty string.
  uint32_t number_of(StringId id) {
    if (!id.valid()) id = profile_.strings->intern("");
    if (number_of_.size() <= id.index()) number_of_.resize(profile_.strings->size(), kNone);
    uint32_t& number = number_of_[id.index()];
    if (number == kNone) {
      number = static_cast<uint32_t>(ids_.size());
      ids_.push_back(id);
    }
    return number;
  }
  uint32_t number_of(std::string_view text) { return number_of(profile_.strings->intern(text)); }
  [[nodiscard]] size_t size() const { return ids_.size(); }
  [[nodiscard]] std::string_view text(size_t number) const { return profile_.text(ids_[number]); }
  /// Clears the table, in time proportional to the number of strings in it.
  void clear() {
    for (StringId id : ids_) number_of_[id.index()] = kNone;
    ids_.clear();
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  const StackProfile& profile_;
  std::vector<uint32_t> number_of_;  // by StringId
  std::vector<StringId> ids_;        // by number
};

/// The build ids of the objects that frames belong to.
class ObjectBuildIds {
 public:
  explicit ObjectBuildIds(const StackProfile& profile) {
    for (const StackObject& object : profile.objects)
      by_path_.try_emplace(object.path.value, object.build_id);
  }
  /// Hexadecimal; empty if not known.
  [[nodiscard]] std::string_view of(StringId path) const {
    auto found = by_path_.find(path.value);
    return found == by_path_.end() ? std::string_view() : found->second;
  }

 private:
  tsl::robin_map<uint32_t, std::string_view, NumberHash> by_path_;
};

/// The last part of a path.
[[nodiscard]] inline std::string_view file_name_of(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// "user", "kernel" …: the names of frame kinds in export formats.
[[nodiscard]] std::string_view kind_word(FrameKind kind);

/// Writes what `append(i, text)` appends for each i of [0, count), in order. It is called on chunks
/// in parallel, so it must be thread-safe; only a few chunks are in memory at a time, each of some
/// megabytes at most (and one i more). `make_append` makes one such function per chunk, which may
/// hold per-chunk state.
template <typename MakeAppend>
void write_in_pieces(Sink& out, size_t count, const MakeAppend& make_append) {
  constexpr size_t kPieceSize = 4096;
  constexpr size_t kPiecesAtATime = 8;
  constexpr size_t kMostText = 4 << 20;  // bytes; a long name in each i would be gigabytes
  struct Piece {
    size_t begin, end;  // what is left of it
    std::string text;
  };
  auto format = [&](Piece& piece) {
    piece.text.clear();
    auto append = make_append();
    while (piece.begin < piece.end && piece.text.size() < kMostText)
      append(piece.begin++, piece.text);
  };
  std::vector<Piece> pieces(kPiecesAtATime);
  for (size_t begin = 0; begin < count && out.failed() == 0;) {
    for (Piece& piece : pieces) {
      piece.begin = begin;
      piece.end = begin = std::min(count, begin + kPieceSize);
    }
    parallel_for(pieces.size(), [&](size_t i) { format(pieces[i]); });
    for (Piece& piece : pieces) {
      out.write_lines(piece.text);
      while (piece.begin < piece.end && out.failed() == 0) {
        format(piece);
        out.write_lines(piece.text);
      }
    }
  }
}

}  // namespace sonde
