#include "probe/events/probe_cache.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/foreign/plain_name.h"
#include "base/output/overwriting.h"
#include "base/text.h"
#include "elf/elf_file.h"
#include "probe/events/probe_events.h"
#include "probe/usdt/sdt_cache.h"
#include "store/build_id_cache.h"

namespace sonde {
namespace {

constexpr size_t kLargestProbesFile = size_t{1} << 24;

/// A request or the name of a USDT probe, and the definitions below it.
struct CacheBlock {
  std::string head;  // with its '#' or '%'
  std::vector<std::string> definitions;
};

/// Whether its probes are called what probes may be called; another tool may have written it.
bool has_plain_names(const CacheBlock& block) {
  if (block.head.starts_with('%')) return !sdt_cache_names(block.head).empty();
  return std::ranges::all_of(block.definitions, [](const std::string& definition) {
    Result<ListedProbe> probe = parse_listed_probe(definition);
    return !probe || (is_plain_name(probe->event.system) && is_plain_name(probe->event.name));
  });
}

std::vector<CacheBlock> cache_blocks(std::string_view text) {
  std::vector<CacheBlock> blocks;
  for (std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    if (line.front() == '#' || line.front() == '%')
      blocks.push_back({std::string(line), {}});
    else if (!blocks.empty())
      blocks.back().definitions.emplace_back(line);
  }
  std::erase_if(blocks, [](const CacheBlock& block) { return !has_plain_names(block); });
  return blocks;
}

std::string cache_text(const std::vector<CacheBlock>& blocks) {
  std::string text;
  for (const CacheBlock& block : blocks) {
    text += block.head + '\n';
    for (const std::string& definition : block.definitions) text += definition + '\n';
  }
  return text;
}

std::string probes_of(const BuildIdCache& cache, std::string_view build_id) {
  return read_file(cache.file(build_id, "probes"), kLargestProbesFile).value_or("");
}

/// Replaces the file whole, so that other readers never see half of it.
Result<> write_probes(const std::string& path, const std::string& text) {
  std::string temporary = fmt::format("{}.{}", path, ::getpid());
  Fd file = make_file(temporary, 0644);
  if (!file.valid()) return fail(ErrorCode::kIo, "{}: {}", temporary, std::strerror(errno));
  TRY(write_all(file.get(), temporary, std::as_bytes(std::span(text))));
  if (::rename(temporary.c_str(), path.c_str()) == 0) return {};
  int error = errno;
  ::unlink(temporary.c_str());
  return fail(ErrorCode::kIo, "{}: {}", path, std::strerror(error));
}

/// The event that a block defines: of its first definition.
std::optional<ListedProbe> first_probe(const CacheBlock& block) {
  if (block.definitions.empty()) return std::nullopt;
  Result<ListedProbe> probe = parse_listed_probe(block.definitions.front());
  if (!probe) return std::nullopt;
  return std::move(*probe);
}

bool selects_block(const NameFilter& filter, const CacheBlock& block) {
  std::optional<ListedProbe> probe = first_probe(block);
  return probe && selects(filter, probe->event);
}

}  // namespace

bool CachedProbe::is_current() const {
  if (place.in_kernel()) return true;
  Result<ElfFile> object = ElfFile::open(place.object);
  return object && to_hex(object->build_id()) == build_id;
}

std::vector<CachedProbe> read_probe_cache(const std::string& buildid_dir) {
  std::vector<CachedProbe> found;
  if (buildid_dir.empty()) return found;
  BuildIdCache cache(buildid_dir);
  for (const BuildIdCache::Entry& entry : cache.entries())
    for (const CacheBlock& block : cache_blocks(probes_of(cache, entry.build_id))) {
      if (!block.head.starts_with('#')) continue;
      for (const std::string& definition : block.definitions)
        if (Result<ListedProbe> probe = parse_listed_probe(definition))
          found.push_back({block.head.substr(1), std::move(probe->event), std::move(probe->place),
                           to_hex(entry.build_id)});
    }
  return found;
}

std::string with_cached_probe(std::string_view text, std::string_view request,
                              const std::vector<NamedProbe>& probes) {
  std::vector<CacheBlock> blocks = cache_blocks(text);
  std::string head = fmt::format("#{}", request);
  std::erase_if(blocks, [&](const CacheBlock& block) { return block.head == head; });
  CacheBlock block{head, {}};
  for (const NamedProbe& probe : probes)
    block.definitions.push_back(
        probe_definition(probe.event.system, probe.event.name, probe.place));
  blocks.push_back(std::move(block));
  return cache_text(blocks);
}

Result<> keep_in_probe_cache(const std::string& buildid_dir, const RequestedProbe& request,
                             const std::vector<NamedProbe>& probes) {
  if (buildid_dir.empty())
    return fail(ErrorCode::kNotFound,
                "there is no build-id cache to keep the probe in: HOME is not set; name a "
                "directory with --buildid-dir");
  if (probes.empty() || probes.front().place.in_kernel())
    return fail(ErrorCode::kUnsupported,
                "--cache keeps probes of programs and libraries: name one with -x");
  for (const NamedProbe& probe : probes)
    TRY(check_definition(probe.event.system, probe.event.name, probe.place));
  const std::string& object = probes.front().place.object;
  ElfFile elf = TRY(ElfFile::open(object));
  if (elf.build_id().empty())
    return fail(ErrorCode::kUnsupported,
                "{} has no build id, by which the cache finds it: link it with -Wl,--build-id",
                object);
  std::string id(elf.build_id());
  BuildIdCache cache(buildid_dir);
  TRY(cache.add({.path = object, .build_id = id, .file = object}));
  // perf's form: with the name of the event if the user gave one.
  std::string text = request.text;
  if (!request.event.empty())
    text = fmt::format("{}:{}", probes.front().event.system,
                       text.substr(request.group.empty() ? 0 : request.group.size() + 1));
  return write_probes(cache.file(id, "probes"),
                      with_cached_probe(probes_of(cache, id), text, probes));
}

std::string probe_cache_text(const std::string& buildid_dir, const NameFilter& filter) {
  std::string text;
  if (buildid_dir.empty()) return text;
  BuildIdCache cache(buildid_dir);
  for (const BuildIdCache::Entry& entry : cache.entries()) {
    std::string of_object;
    for (const CacheBlock& block : cache_blocks(probes_of(cache, entry.build_id))) {
      if (!selects_block(filter, block)) continue;
      // "%sdt_x:y=y" without what is after '=': the name says it.
      bool is_usdt = block.head.starts_with('%');
      of_object += is_usdt ? block.head.substr(0, block.head.find('=')) : block.head.substr(1);
      of_object += '\n';
    }
    if (of_object.empty()) continue;
    text += fmt::format("{} ({}):\n{}", entry.path, to_hex(entry.build_id), of_object);
  }
  return text;
}

Result<std::vector<std::string>> remove_from_probe_cache(const std::string& buildid_dir,
                                                         const NameFilter& filter) {
  std::vector<std::string> removed;
  if (buildid_dir.empty()) return removed;
  BuildIdCache cache(buildid_dir);
  for (const BuildIdCache::Entry& entry : cache.entries()) {
    std::vector<CacheBlock> blocks = cache_blocks(probes_of(cache, entry.build_id));
    size_t before = removed.size();
    std::erase_if(blocks, [&](const CacheBlock& block) {
      if (!selects_block(filter, block)) return false;
      removed.push_back(block.head.substr(1));
      return true;
    });
    if (removed.size() > before)
      TRY(write_probes(cache.file(entry.build_id, "probes"), cache_text(blocks)));
  }
  return removed;
}

}  // namespace sonde
