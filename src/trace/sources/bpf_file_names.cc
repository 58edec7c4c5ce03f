#include "trace/sources/bpf_file_names.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ranges>

namespace sonde {
namespace {

bool has_ended(int32_t tid) {
  return ::kill(tid, 0) != 0 && errno == ESRCH;
}

/// A file that is in no directory, in the words of its file system.
std::string name_of_lone_file(std::string_view type, std::string_view name, uint64_t inode) {
  if (type == "pipefs") return fmt::format("pipe:[{}]", inode);
  if (type == "sockfs") return fmt::format("socket:[{}]", inode);
  if (type == "pidfs") return "anon_inode:[pidfd]";
  if (name.empty() || name == "/") return {};
  if (type == "anon_inodefs") return "anon_inode:" + std::string(name);
  return fmt::format("/{} (deleted)", name);
}

}  // namespace

std::string name_of_file(Bytes bytes) {
  trace_file file;
  if (bytes.size() < sizeof file) return {};
  std::memcpy(&file, bytes.data(), sizeof file);
  std::string_view type(static_cast<const char*>(file.type),
                        ::strnlen(static_cast<const char*>(file.type), sizeof file.type));
  std::string_view text = as_text(bytes.subspan(sizeof file));
  std::vector<std::string_view> names;  // from the file up
  while (!text.empty()) {
    size_t end = std::min(text.find('\0'), text.size());
    names.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if ((file.flags & TRACE_FILE_ALONE) != 0)
    return names.size() == 1 ? name_of_lone_file(type, names.front(), file.inode) : std::string();
  std::string path = (file.flags & TRACE_FILE_CUT) != 0 ? "..." : "";
  for (std::string_view name : std::views::reverse(names)) {
    path += '/';
    path += name;
  }
  if (path.empty()) path = "/";
  if ((file.flags & TRACE_FILE_DELETED) != 0) path += " (deleted)";
  return path;
}

BpfFileNames::BpfFileNames(IsGone is_gone, size_t many)
    : is_gone_(is_gone ? std::move(is_gone) : has_ended), least_(many), many_(many) {}

void BpfFileNames::drop_the_gone() {
  std::erase_if(threads_, [this](const auto& thread) { return is_gone_(thread.first); });
  many_ = std::max(least_, threads_.size() * 2);
}

BpfFileNames::Slots& BpfFileNames::slots_of(int32_t tid) {
  auto found = threads_.find(tid);
  if (found != threads_.end()) return *found->second;
  if (threads_.size() >= many_) drop_the_gone();
  return *(threads_[tid] = std::make_unique<Slots>());
}

std::span<const ArgFile> BpfFileNames::take(const SyscallEvent& call) {
  files_.clear();
  for (const ArgMemory& piece : call.memory) {
    if (piece.part != TRACE_FILE_PART || files_.size() == texts_.size()) continue;
    auto fd = static_cast<uint32_t>(call.args[piece.arg]);
    Known& known = slots_of(call.tid)[fd % TRACE_FILE_SLOTS];
    if (!piece.bytes.empty())
      known = {.label = piece.address, .fd = fd, .name = name_of_file(piece.bytes)};
    // A copy: another descriptor of the call may have the same slot.
    std::string& text = texts_[files_.size()];
    text.clear();
    if (known.label == piece.address && known.fd == fd) text = known.name;
    files_.push_back({.arg = piece.arg, .name = text});
  }
  return files_;
}

}  // namespace sonde
