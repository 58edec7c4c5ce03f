// The blocks of a recording, shared out among threads that read them in order.
//
// Each share is a run of consecutive blocks. Blocks take different times, and threads may have
// less than a core: who has finished takes the second half of what is left of the largest share.
//
//   at first    |0 1 2 3 4 5 6 7|8 9 …           a share for each thread
//   0-7 done                     |… 12 13 14 15|  another thread is at 12
//   taken                        |… 12 13|14 15|  a new share
//
// So there are a few more shares than threads, and which blocks are in one depends on the machine;
// no result may.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

namespace sonde {

class BlockShares {
 public:
  /// Deals `blocks` out into `shares` of equal size.
  BlockShares(size_t blocks, size_t shares);

  /// Shares are numbered as they were made.
  [[nodiscard]] size_t size() const;
  [[nodiscard]] size_t first_block(size_t share) const;
  /// How many blocks have been taken of a share, or are going to be.
  [[nodiscard]] size_t end_block(size_t share) const;
  /// The next block of a share; empty if all have been taken.
  std::optional<size_t> next(size_t share);
  /// The number of a new share, half of what is left of another that has been begun; empty if there
  /// is none whose halves are worth a share's tables.
  std::optional<size_t> split_largest();

 private:
  struct Share {
    size_t first, next, end;
  };
  static constexpr size_t kLeastLeft = 8;  // of which a half is taken

  mutable std::mutex mutex_;
  std::deque<Share> shares_;
};

}  // namespace sonde
