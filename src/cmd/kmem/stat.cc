// kmem stat: accumulated allocations.
#include "cmd/kmem/stat.h"

#include <unistd.h>

#include "cli/argument_count.h"
#include "cmd/options/profile_flags.h"
#include "event/pmu/pmu.h"
#include "event/print_fmt/print_fmt.h"
#include "kmem/kmem_pipeline.h"
#include "kmem/kmem_tables.h"
#include "replay/fields/time_ranges.h"
#include "replay/fields/trace_formats.h"

namespace sonde {
namespace {

/// An option that takes precedence over `other` when named after it.
void last_of_two(FlagTable& flags, const char* name, const char* help, int& own, const int& other) {
  flags.act(0, name, help, [&own, &other]() -> Result<> {
    own = other + 1;
    return {};
  });
}

}  // namespace

void KmemOptions::declare(FlagTable& flags) {
  last_of_two(flags, "slab",
              "objects: kmalloc and caches (the default, unless kmem.default says page)", slab,
              page);
  last_of_two(flags, "page", "pages", page, slab);
  last_of_two(flags, "caller", "a table of the places that allocated", caller, alloc);
  last_of_two(flags, "alloc", "a table of what was allocated: objects, or pages", alloc, caller);
  flags.call(
      's', "sort", "key[,key2...]",
      "what to sort by: of objects ptr, callsite, bytes, hit, pingpong, frag (frag,hit,bytes); of "
      "pages page, callsite, bytes, hit, order, migtype, gfp (bytes,hit)",
      [this](std::string_view keys) { return set_sort(keys); });
  flags.call('l', "line", "num", "rows of a table (default: all)",
             [this](std::string_view count) { return set_lines(count); });
  flags.boolean(0, "raw-ip", raw_addresses, "show places as addresses, instead of symbols");
  flags.boolean(0, "live", live, "with --page: only pages that were not freed again");
  flags.text(0, "time", time, "str", "only this span: start,stop in seconds");
  declare_unverified_symbols(flags, symbols);
  input.declare(flags);
}

Result<> KmemOptions::set_sort(std::string_view keys) {
  bool is_of_pages = page > slab || (page == 0 && slab == 0 && pages_by_default);
  if (is_of_pages) {
    std::vector<PageRow> none;
    TRY(sort_page_rows(none, keys));
    (caller > alloc ? page_callers : pages).sort = keys;
  } else {
    std::vector<SlabRow> none;
    TRY(sort_slab_rows(none, keys));
    (caller > alloc ? slab_callers : slab_objects).sort = keys;
  }
  return {};
}

Result<> KmemOptions::set_lines(std::string_view count) {
  auto lines = TRY(number_from<uint32_t>(count));
  bool is_of_callers = caller > alloc;
  (is_of_callers ? slab_callers : slab_objects).lines = lines;
  (is_of_callers ? page_callers : pages).lines = lines;
  return {};
}

namespace {

/// The NUMA node of each CPU, according to the recording.
std::vector<int32_t> nodes_of_cpus(const Features& features) {
  std::vector<int32_t> nodes;
  for (const NumaNode& node : features.numa)
    for (int cpu : parse_cpu_list(node.cpus).value_or(std::vector<int>())) {
      auto place = static_cast<size_t>(cpu);
      if (place >= nodes.size()) nodes.resize(place + 1, -1);
      nodes[place] = static_cast<int32_t>(node.node);
    }
  return nodes;
}

class KmemStat final : public Command {
 public:
  explicit KmemStat(KmemOptions options) : options_(std::move(options)) {}

  void declare(FlagTable& flags) override {
    flags.usage("[<options>]");
    flags.description(
        R"(Adds up the allocations of a recording by `kmem record`: a summary and, with --caller and --alloc, tables of who allocated and what was allocated. -v reports on standard error how many frees were of memory from before the recording.)");
    options_.declare(flags);
  }
  [[nodiscard]] bool paged() const override { return true; }

  Result<int> run(Env& env, const Arguments& arguments) override {
    TRY(no_arguments(arguments));
    KmemWanted wanted = TRY(choose());
    FileScan scan = TRY(options_.input.open_scan(env));
    ScanMachine machine(scan);
    KmemPipeline pipeline(scan, machine, env.losses);
    TRY(check(pipeline, wanted, env));
    SlabStats slab(nodes_of_cpus(scan.features()));
    TraceFormats formats(scan.events(), scan.features());
    PageStats pages({.live_only = options_.live,
                     .page_bytes = formats.data() == nullptr ? 4096 : formats.data()->page_size()});
    GfpNamer names(formats, pipeline, scan);
    pipeline.run(wanted, [&](std::span<const KmemEvent> events) {
      for (const KmemEvent& event : events) {
        slab.consume(event);
        pages.consume(event);
        names.consume(event);
      }
    });
    show(env, scan, machine, pipeline, slab, pages, names.names());
    return 0;
  }

 private:
  /// The names of allocation flags, each looked up once.
  class GfpNamer {
   public:
    GfpNamer(const TraceFormats& formats, const KmemPipeline& pipeline, const FileScan& scan)
        : formats_(formats), pipeline_(pipeline), order_(scan.facts().order) {}
    void consume(const KmemEvent& event) {
      if (event.kind != KmemKind::kPageAlloc || (is_used_ && event.gfp_flags == last_)) return;
      is_used_ = true;
      last_ = event.gfp_flags;
      if (names_.knows(last_)) return;
      std::string text;
      if (const TracepointFormat* format = formats_.of(EventId(size_t{event.event}))) {
        PrintTarget target;
        target.order = order_;
        target.word_size = formats_.data()->long_size();
        PrintProgram::compile(*format, target).print(pipeline_.raw(event), {}, text);
      }
      names_.add(last_, text);
    }
    [[nodiscard]] const GfpNames& names() const { return names_; }

   private:
    const TraceFormats& formats_;
    const KmemPipeline& pipeline_;
    ByteOrder order_;
    GfpNames names_;
    uint32_t last_ = 0;
    bool is_used_ = false;
  };

  Result<KmemWanted> choose() const {
    KmemWanted wanted{.slab = options_.wants_slab(), .page = options_.wants_page()};
    if (options_.live && !wanted.page)
      return fail(ErrorCode::kUsage, "--live is about pages: give --page, too");
    wanted.time = TRY(parse_time_span(options_.time));
    return wanted;
  }

  Result<> check(const KmemPipeline& pipeline, const KmemWanted& wanted, const Env& env) const {
    auto lacks = [&](std::string_view what) {
      return fail(
          ErrorCode::kFailed,
          "{2}: no events of the {0} allocator; '{1} kmem --{0} record' makes such a recording",
          what, env.tool, options_.input.chosen_path(env));
    };
    if (wanted.slab && !pipeline.has(KmemKind::kSlabAlloc)) return lacks("slab");
    if (wanted.page && !pipeline.has(KmemKind::kPageAlloc)) return lacks("page");
    return {};
  }

  void show(Env& env, const FileScan& scan, ScanMachine& machine, const KmemPipeline& pipeline,
            const SlabStats& slab, const PageStats& pages, const GfpNames& names) const {
    machine.finalize(options_.symbols, env);
    std::vector<SlabRow> slab_callers;
    if (options_.wants_slab()) slab_callers = slab.callers();
    std::vector<uint64_t> addresses = pipeline.paths().addresses();
    for (const SlabRow& row : slab_callers) addresses.push_back(row.what);
    if (options_.caller > 0 || options_.alloc > 0) machine.load(addresses);
    if (options_.wants_slab()) show_slab(env.out, machine, slab, std::move(slab_callers));
    if (options_.wants_page()) {
      PageTableStyle style;
      style.gfp = &names;
      style.types = &MigrateTypes::of_kernel(scan.features().os_release.value_or(""));
      style.live_only = options_.live;
      style.pages_are_pfns = pipeline.pages_are_pfns();
      show_pages(env.out, machine, pipeline, pages, style);
    }
    if (options_.input.verbose == 0) return;
    if (options_.wants_slab())
      env.err.print("{} frees of objects that were allocated before the recording\n",
                    slab.sums().unknown_frees);
    if (options_.wants_page())
      env.err.print("{} frees of pages that were allocated before the recording\n",
                    pages.sums().unknown_frees.count);
  }

  void show_slab(Sink& out, const ScanMachine& machine, const SlabStats& slab,
                 std::vector<SlabRow> callers) const {
    const ScanMachine* symbols = options_.raw_addresses ? nullptr : &machine;
    if (options_.caller > 0) {
      // The keys were checked when they were given.
      (void)sort_slab_rows(callers, options_.slab_callers.sort);
      write_slab_rows(out, callers, {symbols, options_.slab_callers.lines, true});
    }
    if (options_.alloc > 0) {
      std::vector<SlabRow> objects = slab.objects();
      (void)sort_slab_rows(objects, options_.slab_objects.sort);
      write_slab_rows(out, objects, {symbols, options_.slab_objects.lines, false});
    }
    write_slab_summary(out, slab.sums());
  }

  void show_pages(Sink& out, const ScanMachine& machine, const KmemPipeline& pipeline,
                  const PageStats& pages, PageTableStyle style) const {
    style.symbols = options_.raw_addresses ? nullptr : &machine;
    if (options_.caller > 0 || options_.alloc > 0) write_gfp_names(out, *style.gfp);
    std::vector<uint64_t> callers;
    if (options_.caller > 0 || options_.alloc > 0) callers = pipeline.paths().callers(machine);
    if (options_.caller > 0) {
      std::vector<PageRow> rows = pages.callers(callers);
      (void)sort_page_rows(rows, options_.page_callers.sort);
      style.by_caller = true;
      style.lines = options_.page_callers.lines;
      write_page_rows(out, rows, style);
    }
    if (options_.alloc > 0) {
      std::vector<PageRow> rows = pages.pages(callers);
      (void)sort_page_rows(rows, options_.pages.sort);
      style.by_caller = false;
      style.lines = options_.pages.lines;
      write_page_rows(out, rows, style);
    }
    write_page_summary(out, pages, *style.types);
  }

  KmemOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_kmem_stat(KmemOptions options) {
  return std::make_unique<KmemStat>(std::move(options));
}

}  // namespace sonde
