#include "objects/injected_jit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/files/process_root.h"
#include "base/sys.h"
#include "perfdata/records/record_encoder.h"
#include "symbol/jit_image.h"

namespace sonde {
namespace {

std::string directory_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// Writes new files beside a dump, which may be in /tmp: never through a link that somebody else
/// put there, and only where the dump's owner may.
class ImageFolder {
 public:
  static Result<ImageFolder> open(const FoundJitDump& dump) {
    ImageFolder folder;
    folder.shown_ = directory_of(dump.path);
    folder.owner_ = dump.owner;
    folder.fd_ = TRY(open_directory_of(dump.path));
    return folder;
  }

  [[nodiscard]] Result<> write(const std::string& name, const std::vector<std::byte>& bytes,
                               Env& env) const {
    std::string shown = shown_ + name;
    std::string path = fmt::format("/proc/self/fd/{}/{}", fd_.get(), name);
    RightsOf rights(owner_);
    if (!rights.valid())
      return fail(ErrorCode::kPermission, "failed to open {}: cannot take the rights of user {}",
                  shown, owner_.uid);
    ::unlink(path.c_str());
    constexpr mode_t kMode = 0644;
    auto fd = env.sys.open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, kMode);
    if (!fd) return fail(ErrorCode::kIo, "failed to open {}: {}", shown, std::strerror(fd.error()));
    Fd file(*fd);
    return write_all(file.get(), shown, bytes);
  }

 private:
  std::string shown_;
  ProcessOwner owner_;
  Fd fd_;
};

}  // namespace

Result<> InjectedCode::look_at(const MmapRecord& record, const Recording& recording, Env& env) {
  if (!record.executable() || !is_jit_dump_name(record.path)) return {};
  std::string path(record.path);
  if (!seen_.emplace(record.pid, path).second) return {};
  auto found = find_jit_dump(record.pid, path, {});
  if (!found) {
    env.losses.add(LossKind::k_bad_symbol_source, 1,
                   fmt::format("{}: {}", path, found.error().message));
    return {};
  }
  auto unusable = [&](std::string_view why) {
    env.losses.add(LossKind::k_bad_symbol_source, 1, fmt::format("{}: {}", path, why));
  };
  if (found->dump.header().order != kHostOrder) {
    unusable("of another byte order");
    return {};
  }
  if (found->dump.header().counts_cycles) {
    if (!cycle_clock_) cycle_clock_ = itrace::cycle_clock_of(recording);
    if (cycle_clock_->multiplier == 0) {
      unusable("timed in cycles, which the recording doesn't say how to convert (TIME_CONV)");
      return {};
    }
  } else if (!has_jit_dump_clock(recording.events())) {
    return fail(ErrorCode::kFailed, "error, jitted code must be sampled with {} record -k 1",
                "perf");
  }
  if (found->dump.bad_records() > 0)
    env.losses.add(
        LossKind::k_bad_symbol_source, 1,
        fmt::format("{}: {} of its records are invalid", path, found->dump.bad_records()));
  return take(record, *found, recording, env);
}

Result<> InjectedCode::take(const MmapRecord& record, const FoundJitDump& found,
                            const Recording& recording, Env& env) {
  const JitDump& dump = found.dump;
  const EventDesc& event = recording.events()[EventId(size_t{0})];
  processes_.insert(record.pid);
  auto name_of = [&](const JitDump::Code& code) {
    return fmt::format("jitted-{}-{}.so", dump.header().pid, code.index);
  };
  std::string inside = directory_of(std::string(record.path));  // as the process sees it
  ImageFolder here = TRY(ImageFolder::open(found));
  for (const JitDump::Code& code : dump.codes()) {
    JitImage image = make_jit_image(dump, code);
    TRY(here.write(name_of(code), image.bytes, env));
    build_ids_.push_back({.misc = abi::kMiscUser,
                          .pid = -1,
                          .build_id = std::move(image.build_id),
                          .path = inside + name_of(code)});
  }
  for (const JitDump::Placed& placed : dump.placed()) {
    const JitDump::Code& code = dump.codes()[placed.code];
    std::string path = inside + name_of(code);
    MmapRecord mmap{};
    mmap.pid = record.pid;
    mmap.tid = dump.header().pid == record.pid ? code.tid : record.pid;
    mmap.start = RuntimeAddr(placed.address);
    mmap.length = code.size;
    if (!code.unwinding.empty())
      mmap.length = code.unwinding_distance() + code.unwinding_mapped_size;
    mmap.offset = FileOffset(kJitImageText);
    mmap.path = path;
    mmap.protection = PROT_EXEC;
    mmap.flags = MAP_SHARED;
    mmap.is_v2 = true;
    RecordFrame frame{.type = abi::kRecordMmap2,
                      .misc = abi::kMiscUser,
                      .attr = &event.attr,
                      .id = kSynthesisedId};
    frame.id.pid = mmap.pid;
    frame.id.tid = mmap.tid;
    frame.id.time =
        dump.header().counts_cycles ? cycle_clock_->to_ns(placed.time_ns) : placed.time_ns;
    frame.id.id = event.ids.empty() ? 0 : event.ids.front();
    size_t offset = records_.size();
    if (encode(mmap, frame, records_))
      mapped_.push_back({frame.id.time, offset, records_.size() - offset});
  }
  return {};
}

bool InjectedCode::replaces(const MmapRecord& record) const {
  if (!processes_.contains(record.pid)) return false;
  return record.path.starts_with("//anon") || record.path.starts_with("[anon:") ||
         is_jit_dump_name(record.path);
}

}  // namespace sonde
