#include "probe/source/name_list.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "probe/source/sorted_texts.h"

namespace sonde {
namespace {

constexpr size_t kPackedHeader = 16;

/// Names of one batch: views of its text.
struct ShownBatch {
  std::string text;
  std::vector<std::pair<size_t, size_t>> names;  // where, and the size

  void add(std::string_view name) {
    names.emplace_back(text.size(), name.size());
    text.append(name);
  }
};

/// Lines of one part of a list that a filter lets through; neighbours are one piece.
void filter_lines(std::string_view lines, const NameFilter& filter,
                  std::vector<std::string_view>& pieces) {
  size_t start = 0, at = 0;
  auto end_piece = [&](size_t next) {
    if (at > start) pieces.push_back(lines.substr(start, at - start));
    start = next;
  };
  while (at < lines.size()) {
    size_t end = lines.find('\n', at);
    bool is_wanted = filter.matches(lines.substr(at, end - at));
    if (!is_wanted) end_piece(end + 1);
    at = end + 1;
  }
  end_piece(at);
}

/// Parts of about that size, each ending with a line.
std::vector<std::string_view> split_lines(std::string_view lines, size_t part_bytes) {
  std::vector<std::string_view> parts;
  while (!lines.empty()) {
    size_t end = lines.find('\n', std::min(part_bytes, lines.size() - 1));
    size_t size = std::min(lines.size(), end + 1);
    parts.push_back(lines.substr(0, size));
    lines.remove_prefix(size);
  }
  return parts;
}

}  // namespace

std::optional<NamedFile> NamedFile::of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr int64_t kSecond = 1'000'000'000;
  return NamedFile{static_cast<uint64_t>(status.st_size),
                   status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

NameList NameList::of(const std::vector<std::string_view>& linked, bool in_kernel,
                      const DemangleOptions& demangle) {
  constexpr size_t kBatch = 2048;
  std::vector<ShownBatch> batches((linked.size() + kBatch - 1) / kBatch);
  parallel_jobs(batches.size(), [&](size_t batch) {
    size_t end = std::min(linked.size(), (batch + 1) * kBatch);
    for (size_t i = batch * kBatch; i < end; ++i)
      batches[batch].add(shown_name(linked[i], in_kernel, demangle));
  });
  std::vector<std::string_view> names;
  names.reserve(linked.size());
  size_t bytes = 0;
  for (const ShownBatch& batch : batches) {
    for (auto [at, size] : batch.names)
      names.push_back(std::string_view(batch.text).substr(at, size));
    bytes += batch.text.size() + batch.names.size();
  }
  sort_texts(names);
  NameList list;
  list.own_.reserve(bytes);
  for (std::string_view name : names) list.own_.append(name).append(1, '\n');
  return list;
}

std::string NameList::pack(const NamedFile& file) const {
  ByteBuilder out;
  out.u64(file.bytes);
  out.u64(static_cast<uint64_t>(file.changed_ns));
  out.bytes(as_bytes(lines()));
  return std::string(as_text(out.view()));
}

std::optional<NameList> NameList::unpack(RetainedObject kept, const NamedFile& file) {
  ByteCursor in(kept.bytes());
  NamedFile made_of{in.u64(), static_cast<int64_t>(in.u64())};
  std::string_view lines = as_text(in.rest());
  if (!in.ok() || made_of != file || !(lines.empty() || lines.ends_with('\n'))) return std::nullopt;
  NameList list;
  list.kept_ = std::move(kept);
  return list;
}

std::string_view NameList::lines() const {
  return kept_ ? as_text(kept_->bytes().subspan(kPackedHeader)) : std::string_view(own_);
}

std::vector<std::string_view> NameList::matching(const NameFilter& filter) const {
  constexpr size_t kPartBytes = size_t{256} << 10;
  std::vector<std::string_view> parts = split_lines(lines(), kPartBytes);
  std::vector<std::vector<std::string_view>> found(parts.size());
  parallel_jobs(parts.size(), [&](size_t i) { filter_lines(parts[i], filter, found[i]); });
  std::vector<std::string_view> pieces;
  for (const auto& some : found) pieces.insert(pieces.end(), some.begin(), some.end());
  return pieces;
}

}  // namespace sonde
