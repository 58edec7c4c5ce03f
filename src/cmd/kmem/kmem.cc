// kmem: what the kernel's allocators handed out, and to whom.
#include <unistd.h>

#include "cli/command_family.h"
#include "cli/command_preset.h"
#include "cmd/kmem/stat.h"
#include "event/print_fmt/tracefs.h"

namespace sonde {

std::unique_ptr<Command> make_record();

namespace {

constexpr std::string_view kRecordText =
    R"(Records what the kernel's allocators hand out and take back, on the whole machine, while the command runs: slab objects or, with --page (before `record`), pages and who requests them. All of record's options may follow; -g also records where each call came from.)";

std::vector<std::string> record_words(const KmemOptions& options) {
  Tracefs tracefs;
  std::vector<std::string> words = {"-a", "-R", "-c", "1"};
  auto add = [&](std::string_view event) {
    words.emplace_back("-e");
    words.push_back("kmem:" + std::string(event));
  };
  auto is_there = [&](std::string_view event) {
    return ::access((tracefs.path() + "/events/kmem/" + std::string(event)).c_str(), F_OK) == 0;
  };
  if (options.wants_slab()) {
    add("kmalloc");
    // Linux 6.1 merged each pair of events into one.
    if (is_there("kmalloc_node")) add("kmalloc_node");
    add("kfree");
    add("kmem_cache_alloc");
    if (is_there("kmem_cache_alloc_node")) add("kmem_cache_alloc_node");
    add("kmem_cache_free");
  }
  if (options.wants_page()) {
    add("mm_page_alloc");
    add("mm_page_free");
    words.emplace_back("-g");
  }
  return words;
}

class Kmem final : public CommandFamily {
 public:
  Kmem() : CommandFamily("kmem") {}

  Result<> configure(const Config& config) override {
    if (auto chosen = config.get("kmem.default")) {
      if (*chosen != "slab" && *chosen != "page")
        return fail(ErrorCode::kUsage, "kmem.default: '{}' is neither slab nor page", *chosen);
      options_.pages_by_default = *chosen == "page";
    }
    return {};
  }

  void declare(FlagTable& flags) override {
    flags.usage("[<options>] {record|stat}");
    declare_members(flags);
    flags.description(
        R"(Records what the kernel's memory allocators do (`kmem record`), and adds up what was requested, allocated and freed, and how much was allocated beyond the request (`kmem stat`).

--slab covers objects (kmalloc and caches), --page pages; the default is slab, or the value of kmem.default in perfconfig. --caller and --alloc show who allocated and what was allocated. -s and -l apply to whichever of these four was named last.

The options may also follow `stat`.)");
    flags.section("EXAMPLES", R"(  sonde kmem record -- ls
  sonde kmem stat --caller -l 20
  sonde kmem --page record -- make
  sonde kmem stat --page --caller --live)");
    options_.declare(flags);
  }

 private:
  [[nodiscard]] std::vector<FamilyMember> members() const override {
    return {
        {"record", [this] { return preset(make_record(), record_words(options_), kRecordText); }},
        {"stat", [this] { return make_kmem_stat(options_); }}};
  }

  KmemOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_kmem() {
  return std::make_unique<Kmem>();
}

}  // namespace sonde
