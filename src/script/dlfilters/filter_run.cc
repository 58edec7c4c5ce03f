#include "script/dlfilters/filter_run.h"

#include <stdio_ext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/text.h"
#include "script/exec_path.h"

namespace sonde {
namespace {

FilterRun& run_of(void* context) {
  return *static_cast<FilterRun*>(context);
}

// The table of functions of perf-dlfilter(1). Only `args` answers outside filter_event.

const perf_dlfilter_al* resolve_ip(void* context) {
  OwnCode own;
  return run_of(context).resolve_ip();
}

const perf_dlfilter_al* resolve_addr(void* context) {
  OwnCode own;
  return run_of(context).resolve_addr();
}

char** args(void* context, int* count) {
  OwnCode own;
  return run_of(context).arguments(count);
}

/// The filter may know an older, shorter structure; its size stays.
int32_t resolve_address(void* context, __u64 address, perf_dlfilter_al* place) {
  OwnCode own;
  SampleAnswers* answers = run_of(context).answers();
  if (answers == nullptr || place == nullptr || place->size == 0) return -1;
  perf_dlfilter_al found = answers->place_of(address);
  found.size = place->size;
  std::memcpy(place, &found, std::min<size_t>(place->size, sizeof found));
  return 0;
}

const __u8* insn(void* context, __u32* length) {
  OwnCode own;
  SampleAnswers* answers = run_of(context).answers();
  if (answers == nullptr || length == nullptr) return nullptr;
  Bytes code = answers->instruction();
  *length = static_cast<__u32>(code.size());
  return code.empty() ? nullptr : reinterpret_cast<const __u8*>(code.data());
}

const char* srcline(void* context, __u32* line) {
  OwnCode own;
  SampleAnswers* answers = run_of(context).answers();
  if (answers == nullptr || line == nullptr) return nullptr;
  return answers->source_file(*line);
}

perf_event_attr* attr(void* context) {
  OwnCode own;
  SampleAnswers* answers = run_of(context).answers();
  return answers == nullptr ? nullptr : answers->attr();
}

int32_t object_code(void* context, __u64 address, void* to, __u32 size) {
  OwnCode own;
  SampleAnswers* answers = run_of(context).answers();
  if (answers == nullptr || to == nullptr) return -1;
  Bytes code = answers->code(address, size);
  if (code.empty()) return -1;
  std::memcpy(to, code.data(), code.size());
  return static_cast<int32_t>(code.size());
}

/// What it is given goes to the C library's buffer.
class StdioSink final : public Sink {
 public:
  explicit StdioSink(bool is_shown) : Sink(is_shown) {}
  ~StdioSink() override { flush_buffer(); }
  [[nodiscard]] int failed() const override { return std::ferror(stdout) != 0 ? EIO : 0; }

 protected:
  void emit(std::string_view text) override {
    ::fwrite_unlocked(text.data(), 1, text.size(), stdout);
  }
};

void al_cleanup(void* /*context*/, perf_dlfilter_al* /*place*/) {}

void fill_in(perf_dlfilter_fns& functions) {
  functions.resolve_ip = resolve_ip;
  functions.resolve_addr = resolve_addr;
  functions.args = args;
  functions.resolve_address = resolve_address;
  functions.insn = insn;
  functions.srcline = srcline;
  functions.attr = attr;
  functions.object_code = object_code;
  functions.al_cleanup = al_cleanup;
}

}  // namespace

Result<std::unique_ptr<FilterRun>> FilterRun::start(const ScriptOptions& options, const Env& env) {
  if (options.dlfilter.empty()) return nullptr;
  auto crashes = std::make_unique<CrashHandlers>(env.tool + " script");
  FilterLibrary library = TRY(FilterLibrary::load(options.dlfilter, find_exec_path(env)));
  // On a terminal, text would overtake our lines.
  if (std::fflush(stdout) == 0) std::setvbuf(stdout, nullptr, _IOFBF, BUFSIZ * size_t{8});
  std::unique_ptr<FilterRun> run(
      new FilterRun(std::move(crashes), std::move(library), options.dlfilter_arguments, env));
  if (run->library_.functions != nullptr) fill_in(*run->library_.functions);
  run->started_ = true;  // stop() is called even if start() fails, as by perf
  if (run->library_.start == nullptr) return run;
  int answer = [&] {
    ForeignCall call(run->library_.path(), "start");
    return run->library_.start(&run->data_, run.get());
  }();
  if (answer != 0) return run->failed("start", answer);
  return run;
}

FilterRun::FilterRun(std::unique_ptr<CrashHandlers> crashes, FilterLibrary library,
                     std::vector<std::string> arguments, const Env& env)
    : crashes_(std::move(crashes)),
      library_(std::move(library)),
      out_(env.out),
      lines_(env.out_fd == STDOUT_FILENO ? std::make_unique<StdioSink>(env.out.is_shown())
                                         : nullptr),
      arguments_(std::move(arguments)) {
  for (std::string& argument : arguments_) argument_pointers_.push_back(argument.data());
  argument_pointers_.push_back(nullptr);
}

FilterRun::~FilterRun() {
  std::ignore = stop();
}

void FilterRun::attach(Session& session, const ScriptOptions& options, const ItemFilter& names,
                       EventWindow& window) {
  session_ = &session;
  window_ = &window;
  threads_ = {options.pids, options.tids, {}, {}};
  cpus_ = {{}, {}, options.items.cpus, {}};
  names_ = std::make_unique<SampleNames>(session, names);
  answers_ = std::make_unique<SampleAnswers>(session, options.show_kernel_path);
}

std::unexpected<Error> FilterRun::failed(const char* function, int answer) const {
  return fail(ErrorCode::kFailed,
              "{}: {} failed with {}: see what the filter printed, or its source", library_.path(),
              function, answer);
}

Result<bool> FilterRun::ask(EventFunction function, const char* name) {
  if (function == nullptr) return true;
  in_event_ = true;
  int answer = [&] {
    ForeignCall call(library_.path(), name);
    return function(data_, &answers_->fields(), this);
  }();
  in_event_ = false;
  if (answer < 0) return failed(name, answer);
  return answer == 0;
}

bool FilterRun::passes_threads_and_names(uint32_t sample) const {
  const SampleColumns& columns = session_->samples();
  SampleId who;
  who.pid = recorded_task(columns.pid[sample]);
  who.tid = recorded_task(columns.tid[sample]);
  return threads_.passes(who, 0) && names_->matches(sample);
}

bool FilterRun::passes_options(uint32_t sample) const {
  SampleId who;
  who.cpu = session_->samples().cpu[sample];
  return cpus_.passes(who, 0) && names_->passes(sample) && passes_threads_and_names(sample);
}

Result<bool> FilterRun::keeps(uint32_t sample) {
  sample_ = sample;
  if (!answers_->enter(sample)) return false;
  if (!TRY(ask(library_.filter_event_early, "filter_event_early"))) return false;
  if (!passes_options(sample)) return false;
  EventId event(size_t{session_->samples().event[sample]});
  if (window_->in_use() && !window_->shows(event)) return false;
  return ask(library_.filter_event, "filter_event");
}

bool FilterRun::has_text() {
  return ::__fpending(stdout) > 0;
}

Sink* FilterRun::line_sink() {
  return lines_.get();
}

void FilterRun::put_text() {
  out_.flush();
  if (std::fflush(stdout) != 0 && stdout_error_ == 0) stdout_error_ = errno;
}

Result<> FilterRun::stop() {
  if (!std::exchange(started_, false)) return {};
  int answer = [&] {
    ForeignCall call(library_.path(), "stop");
    return library_.stop == nullptr ? 0 : library_.stop(data_, this);
  }();
  put_text();
  if (answer < 0) return failed("stop", answer);
  if (stdout_error_ != 0 && stdout_error_ != EPIPE)
    return fail(ErrorCode::kIo, "cannot write to standard output: {}",
                std::strerror(stdout_error_));
  return {};
}

const perf_dlfilter_al* FilterRun::resolve_ip() {
  if (!in_event_) return nullptr;
  ip_ = answers_->ip_place(!passes_threads_and_names(sample_));
  return &ip_;
}

const perf_dlfilter_al* FilterRun::resolve_addr() {
  if (!in_event_) return nullptr;
  std::optional<perf_dlfilter_al> place = answers_->addr_place();
  if (!place) return nullptr;
  addr_ = *place;
  return &addr_;
}

char** FilterRun::arguments(int* count) {
  if (count == nullptr) return nullptr;
  *count = static_cast<int>(arguments_.size());
  return argument_pointers_.data();
}

void print_filters(const Env& env, bool verbose) {
  CrashHandlers crashes(env.tool + " script");
  env.out.write("List of available dlfilters:\n");
  for (const FilterDescription& filter : list_filters(find_exec_path(env))) {
    env.out.print("  {:<36} {}\n", filter.file, filter.line);
    if (verbose)
      for (std::string_view line : split(filter.details, '\n'))
        env.out.print("{:39}{}\n", "", line);
  }
}

}  // namespace sonde
