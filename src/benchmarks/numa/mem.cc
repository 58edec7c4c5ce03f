// numa mem: processes with threads go through memory that all, those of a process, or one of them
// uses; bound to CPUs and memory nodes, or left to the scheduler.
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "base/clock.h"
#include "benchmarks/benchmark.h"
#include "benchmarks/numa/convergence.h"
#include "benchmarks/numa/memory_walk.h"
#include "benchmarks/numa/shared_memory.h"
#include "benchmarks/support/child_processes.h"
#include "benchmarks/support/io.h"
#include "benchmarks/support/worker_threads.h"
#include "capture/opening/cpu_map.h"
#include "cli/refused_options.h"
#include "event/pmu/pmu.h"

namespace sonde {

namespace {

constexpr RefusedOption kRefused[] = {
    {'a', "all", nullptr, "refused: there is no suite of runs; give the sizes of one",
     "the tests of perf's suite are not here: give -p, -t, -P …"},
};

/// What a task leaves, in memory that its parent sees.
struct TaskResult {
  uint64_t elapsed_ns, bytes;
  uint64_t user_us, system_us;  // on CPUs
  std::atomic<uint64_t> loops;  // while it runs, and
  std::atomic<int> cpu_seen;    // the CPU it was on after the last one, plus one; 0: not yet
  int error;                    // an errno
  char step[24];                // what failed with it
};
static_assert(std::atomic<uint64_t>::is_always_lock_free);

struct NumaOptions {
  unsigned processes = 1, threads = 0;  // 0: as many as CPUs
  uint64_t global_mb = 1, process_mb = 0, locked_mb = 0, thread_mb = 0;
  std::optional<uint64_t> loops;
  unsigned seconds = 5, sleep_us = 0;
  bool init_on_cpu0 = false, init_random = false, init_zero = false;
  int huge_pages = 0, quiet = 0, details = 0;
  bool show_convergence = false, measure_convergence = false, serialize = false;
  unsigned perturb_s = 0;
  std::string cpus, nodes;
  MemoryWalk walk;
};

class NumaMem final : public Benchmark {
 public:
  void declare(FlagTable& flags) override {
    NumaOptions& o = options_;
    flags.boolean('0', "init_cpu0", o.init_on_cpu0,
                  "have CPU 0 fill the memory, so that it lies on that CPU's node");
    flags.boolean('B', "data_backwards", o.walk.backwards,
                  "walk through the memory a second time, from its end");
    flags.text('C', "cpus", o.cpus, "cpu[,cpu2,...cpuN]",
               "CPUs of the first threads, one for each; further threads are not bound");
    flags.number('G', "mb_global", o.global_mb, "MB",
                 "MB that the threads of all processes share (1)");
    flags.number('H', "thp", o.huge_pages, "n",
                 "memory in huge pages if above 0, in small ones if below (0: as the system does)");
    flags.boolean('I', "init_random", o.init_random, "fill the memory with random numbers");
    flags.number('L', "mb_proc_locked", o.locked_mb, "MB",
                 "MB of -P that threads go through once more, one at a time; at most -P (0)");
    flags.number('l', "nr_loops", o.loops, "n",
                 "rounds through the memory (default: as many as -s allows)");
    flags.text('M', "memnodes", o.nodes, "node[,node2,...nodeN]",
               "nodes of the first threads' memory, one for each; that of further threads may lie "
               "anywhere");
    flags.number('P', "mb_proc", o.process_mb, "MB", "MB that the threads of a process share (0)");
    flags.number('p', "nr_proc", o.processes, "n", "processes (1)");
    flags.count('q', "quiet", o.quiet,
                "show no progress, and each result as a number with a short text");
    flags.boolean('r', "data_rand_walk", o.walk.random,
                  "go through the memory in random order, by a shift register");
    flags.boolean('R', "data_reads", o.walk.reads,
                  "read the memory, and write it only with -W (default: both)");
    flags.number('s', "nr_secs", o.seconds, "n", "seconds after which no round begins (5)");
    flags.number('T', "mb_thread", o.thread_mb, "MB", "MB that each thread has for itself (0)");
    flags.number('t', "nr_threads", o.threads, "n",
                 "threads of each process (default: as many as CPUs)");
    flags.number('u', "usleep", o.sleep_us, "n", "microseconds to sleep after each round (0)");
    flags.boolean('W', "data_writes", o.walk.writes,
                  "write the memory, and read it only with -R (default: both)");
    flags.boolean('Z', "data_zero_memset", o.walk.clears,
                  "clear the memory with memset(), instead of walking through it");
    flags.boolean('z', "init_zero", o.init_zero, "fill the memory with zeros");
    flags.boolean('c', "show_convergence", o.show_convergence,
                  "show each second which nodes threads are on, and when each process has come "
                  "together on one");
    flags.count('d', "show_details", o.details,
                "name the processes; given twice, also addresses of memory and times of threads");
    flags.boolean(
        'm', "measure_convergence", o.measure_convergence,
        "end when each process has come together on one node, and show how long that took");
    flags.boolean('S', "serialize-startup", o.serialize,
                  "start processes, and fill the memory of threads, one after the other");
    flags.number('x', "perturb_secs", o.perturb_s, "n",
                 "move the first thread to the far end of the machine every n seconds (0: never)");
    declare_refused(flags, kRefused);
  }

  Result<> run(BenchmarkRun& run) override {
    TRY(prepare());
    Reporter& report = run.report;
    report.line("\n # Running main, \"{}\"", run.env.command_line);
    if (is_chatty()) show_work(report);
    // All zero, as the kernel gives it.
    WalkedMemory results = TRY(WalkedMemory::map((tasks_ + 1) * sizeof(TaskResult), true, 0));
    results_ = reinterpret_cast<TaskResult*>(results.words().data());
    stop_ = &results_[tasks_].loops;
    global_ = TRY(WalkedMemory::map(options_.global_mb << 20, true, options_.huge_pages));
    fill(global_);
    TRY(run_tasks(report));
    show(report);
    return {};
  }

 private:
  Result<> prepare() {
    NumaOptions& o = options_;
    std::vector<int> allowed = allowed_cpus();
    if (o.threads == 0) o.threads = static_cast<unsigned>(allowed.size());
    tasks_ = size_t{o.processes} * o.threads;
    constexpr uint64_t kMaxMb = uint64_t{1} << 24;
    for (uint64_t mb : {o.global_mb, o.process_mb, o.thread_mb})
      if (mb > kMaxMb) return fail(ErrorCode::kUsage, "{} MB of memory are too much", mb);
    if (tasks_ == 0 || tasks_ > 100'000)
      return fail(ErrorCode::kUsage, "{} processes with {} threads: 1 to 100000 are possible",
                  o.processes, o.threads);
    if (o.locked_mb > o.process_mb)
      return fail(ErrorCode::kUsage, "--mb_proc_locked {}: more than --mb_proc {}", o.locked_mb,
                  o.process_mb);
    std::vector<int> online = TRY(online_cpus());
    if (!o.cpus.empty()) cpus_ = TRY(select_cpus(o.cpus, online));
    if (o.nodes.empty()) return {};
    auto nodes = parse_cpu_list(o.nodes);
    if (!nodes) return fail(ErrorCode::kUsage, "--memnodes {}: not a list of nodes", o.nodes);
    nodes_ = *nodes;
    for (int node : nodes_)
      if (::access(fmt::format("/sys/devices/system/node/node{}", node).c_str(), F_OK) != 0)
        return fail(ErrorCode::kNotFound, "--memnodes {}: this machine has no node {}", o.nodes,
                    node);
    return {};
  }

  void show_work(Reporter& report) const {
    const NumaOptions& o = options_;
    auto nodes = nodes_count();
    report.line("#\n#\n\n ###");
    report.line(" # {} {} will execute (on {} nodes, {} CPUs):", tasks_,
                tasks_ == 1 ? "task" : "tasks", nodes, allowed_cpus().size());
    std::string loops = o.loops ? std::to_string(*o.loops) : "-1";
    report.line(" # {:>10}x {:>5}MB global  shared mem operations", loops, o.global_mb);
    report.line(" # {:>10}x {:>5}MB process shared mem operations", loops, o.process_mb);
    report.line(" # {:>10}x {:>5}MB thread  local  mem operations", loops, o.thread_mb);
    report.line(" ###\n\n ###\n #");
  }

  [[nodiscard]] bool is_chatty() const { return !options_.quiet || options_.details > 0; }

  static size_t nodes_count() {
    auto text = read_file("/sys/devices/system/node/online");
    auto nodes =
        text ? parse_cpu_list(std::string_view(*text).substr(0, text->find('\n'))) : std::nullopt;
    return nodes ? nodes->size() : 1;
  }

  Result<> run_tasks(Reporter& report) {
    uint64_t start_ns = monotonic_ns();
    FdPair ready = TRY(make_pipe()), begin = TRY(make_pipe());
    ready_ = ready.out.get();
    begin_ = begin.in.get();
    ChildProcesses processes;
    if (is_chatty()) report.text(" # Startup synchronization: ...");
    bool begun = true;
    for (unsigned i = 0; i < options_.processes && begun; ++i) {
      TRY(processes.start([&, i] {
        ready.in.reset();
        begin.out.reset();
        return run_process(i);
      }));
      if (options_.details > 0) report.line(" # process {:>2}: PID {}", i, processes.last());
      if (options_.serialize) begun = wait_until_ready(ready.in.get(), options_.threads);
    }
    ready.out.reset();
    char byte = 0;
    if (!options_.serialize) begun = wait_until_ready(ready.in.get(), tasks_);
    if (begun && is_chatty())
      report.text(fmt::format(" threads initialized in {:.6f} seconds.\n #\n",
                              static_cast<double>(monotonic_ns() - start_ns) / 1e9));
    if (begun) write_fully(begin.out.get(), &byte, 1);
    std::thread watcher([this, &report] { watch(report); });
    Result<> done = processes.wait();
    has_ended_ = true;
    watcher.join();
    if (begun && is_chatty()) report.line("\n ###\n");
    for (size_t i = 0; i < tasks_; ++i)
      if (results_[i].error)
        return fail(ErrorCode::kFailed, "task {}: {}: {}", i, results_[i].step,
                    std::strerror(results_[i].error));
    return done;
  }

  /// While the tasks run: whether they have converged, and since when.
  void watch(Reporter& report) {
    const NumaOptions& o = options_;
    if (!o.show_convergence && !o.measure_convergence) return;
    std::map<int, int> nodes;  // of CPUs
    uint64_t start_ns = monotonic_ns(), shown_s = 0;
    for (; !has_ended_; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      std::vector<TaskPlace> places;
      for (size_t i = 0; i < tasks_; ++i) {
        int cpu = results_[i].cpu_seen - 1;
        if (cpu >= 0 && !nodes.contains(cpu)) nodes[cpu] = node_of_cpu(cpu);
        places.push_back({results_[i].loops, cpu >= 0 ? nodes[cpu] : -1});
      }
      Convergence now = Convergence::of(places, o.threads, nodes_count());
      double seconds = static_cast<double>(monotonic_ns() - start_ns) / 1e9;
      bool changed = now.has_converged() != converged_s_.has_value();
      bool is_due = static_cast<uint64_t>(seconds) > shown_s;
      if (!changed && !is_due) continue;
      shown_s = static_cast<uint64_t>(seconds);
      if (is_chatty()) report.text(progress(seconds, places) + now.text());
      if (changed) note_change(report, seconds);
      if (converged_s_ && o.measure_convergence) *stop_ = 1;
      if (*stop_) return;
    }
  }

  void note_change(Reporter& report, double seconds) {
    if (is_chatty())
      report.line(" ({:6.1f}s {})", seconds, converged_s_ ? "de-converged" : "converged");
    if (converged_s_)
      converged_s_.reset();
    else
      converged_s_ = seconds;
  }

  /// How much of the run is over, by loops or by time, whichever is more.
  [[nodiscard]] std::string progress(double seconds, const std::vector<TaskPlace>& places) const {
    double share = options_.seconds > 0 ? seconds / options_.seconds : 1;
    if (options_.loops && *options_.loops > 0)
      share = std::max(share,
                       static_cast<double>(std::ranges::max(places, {}, &TaskPlace::loops).loops) /
                           static_cast<double>(*options_.loops));
    return fmt::format("\r # {:6.1f}%  [{:.1f} mins]", std::min(share, 1.0) * 100, seconds / 60);
  }

  /// In a child. Its threads share this process's memory.
  bool run_process(unsigned process) {
    size_t first = size_t{process} * options_.threads;
    auto memory = WalkedMemory::map(options_.process_mb << 20, false, options_.huge_pages);
    if (!memory) return gave_up(first, "memory of a process", ENOMEM);
    process_memory_ = std::move(*memory);
    // Filled by its first task, so that it lies where that is bound to.
    if (nodes_.size() > first)
      if (int error = bind_to_node(static_cast<unsigned>(nodes_[first])))
        return gave_up(first, "memory node", error);
    fill(process_memory_);
    WorkerThreads threads;
    for (unsigned i = 0; i < options_.threads; ++i)
      if (!threads.start([this, task = first + i] { run_task(task); }))
        return gave_up(first + i, "starting a thread", EAGAIN);
    threads.release();
    threads.join();
    return std::all_of(results_ + first, results_ + first + options_.threads,
                       [](const TaskResult& result) { return result.error == 0; });
  }

  /// In a thread of a child.
  void run_task(size_t task) {
    if (!bind(task)) return;
    auto own = WalkedMemory::map(options_.thread_mb << 20, false, options_.huge_pages);
    if (!own) {
      gave_up(task, "memory of a thread", ENOMEM);
      return;
    }
    {
      std::unique_lock in_turn(starting_, std::defer_lock);
      if (options_.serialize) in_turn.lock();
      fill(*own);
      if (options_.details > 1) show_memory(task, *own);
    }
    if (!wait_to_begin(ready_, begin_)) return;
    uint64_t start_ns = monotonic_ns(), end_ns = start_ns + options_.seconds * 1'000'000'000ull;
    uint64_t bytes = 0, perturbed_ns = start_ns;
    TaskResult& result = results_[task];
    for (uint64_t i = 0; !options_.loops || i < *options_.loops; ++i) {
      bytes += walk_all(own->words());
      result.loops = i + 1;
      result.cpu_seen = ::sched_getcpu() + 1;
      uint64_t now_ns = monotonic_ns();
      if (now_ns >= end_ns || *stop_) break;
      if (task == 0 && options_.perturb_s &&
          now_ns - perturbed_ns >= options_.perturb_s * 1'000'000'000ull) {
        perturb();
        perturbed_ns = now_ns;
      }
      if (options_.sleep_us) ::usleep(options_.sleep_us);
    }
    result.elapsed_ns = monotonic_ns() - start_ns;
    result.bytes = bytes;
    rusage used{};
    if (::getrusage(RUSAGE_THREAD, &used) != 0) return;
    auto us = [](const timeval& time) {
      return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
    };
    result.user_us = us(used.ru_utime);
    result.system_us = us(used.ru_stime);
  }

  /// Moves the calling thread to the other end of the machine; then it may go anywhere again.
  static void perturb() {
    cpu_set_t before;
    if (::sched_getaffinity(0, sizeof before, &before) != 0) return;
    std::vector<int> allowed = allowed_cpus();
    bool is_in_first_half = ::sched_getcpu() <= allowed[(allowed.size() - 1) / 2];
    bind_to_cpu(is_in_first_half ? allowed.back() : allowed.front());
    ::sched_setaffinity(0, sizeof before, &before);
  }

  /// Where a thread's memory is; written at once, since other processes write, too.
  void show_memory(size_t task, const WalkedMemory& own) const {
    auto address = [](const WalkedMemory& memory) {
      return memory.words().empty() ? "(nil)"
                                    : fmt::format("{}", static_cast<void*>(memory.words().data()));
    };
    std::string line =
        fmt::format("#  thread {:>2} / {:>2} global mem: {}, process mem: {}, thread mem: {}\n",
                    task / options_.threads, task % options_.threads, address(global_),
                    address(process_memory_), address(own));
    write_fully(STDOUT_FILENO, line.data(), line.size());
  }

  uint64_t walk_all(std::span<uint64_t> own) {
    const MemoryWalk& walk = options_.walk;
    uint64_t bytes = walk.pass(global_.words()) + walk.pass(process_memory_.words());
    if (options_.locked_mb) {
      std::scoped_lock lock(locked_);
      bytes += walk.pass(
          process_memory_.words().subspan(0, (options_.locked_mb << 20) / sizeof(uint64_t)));
    }
    return bytes + walk.pass(own);
  }

  bool bind(size_t task) {
    if (task < cpus_.size())
      if (int error = bind_to_cpu(cpus_[task])) return gave_up(task, "CPU", error);
    if (task < nodes_.size())
      if (int error = bind_to_node(static_cast<unsigned>(nodes_[task])))
        return gave_up(task, "memory node", error);
    return true;
  }

  bool gave_up(size_t task, const char* step, int error) {
    TaskResult& result = results_[task];
    std::strncpy(result.step, step, sizeof result.step - 1);
    result.error = error;
    return false;
  }

  /// The pages come into being where this thread runs, or on CPU 0 if wanted.
  void fill(const WalkedMemory& memory) const {
    if (memory.words().empty()) return;
    if (options_.init_on_cpu0) {
      WorkerThreads filler;
      if (filler.start([&] { write_all_of(memory); }, 0)) {
        filler.release();
        filler.join();
      }
      return;
    }
    write_all_of(memory);
  }

  void write_all_of(const WalkedMemory& memory) const {
    if (options_.init_random)
      std::ranges::generate(memory.words(), std::minstd_rand());
    else if (options_.init_zero || options_.init_on_cpu0)
      std::memset(memory.words().data(), 0, memory.words().size_bytes());
  }

  void show(Reporter& report) const {
    double max = 0, min = INFINITY, sum = 0, bytes = 0;
    for (size_t i = 0; i < tasks_; ++i) {
      auto ns = static_cast<double>(results_[i].elapsed_ns);
      max = std::max(max, ns);
      min = std::min(min, ns);
      sum += ns;
      bytes += static_cast<double>(results_[i].bytes);
    }
    if (options_.measure_convergence && converged_s_)
      put(report, *converged_s_, "secs", "NUMA-convergence-latency",
          "secs latency to NUMA-converge");
    auto tasks = static_cast<double>(tasks_);
    double spread = max > 0 ? (max - min) / max / 2 * 100 : 0;
    put(report, max / 1e9, "secs", "runtime-max/thread", "secs slowest (max) thread-runtime");
    put(report, min / 1e9, "secs", "runtime-min/thread", "secs fastest (min) thread-runtime");
    put(report, sum / tasks / 1e9, "secs", "runtime-avg/thread", "secs average thread-runtime");
    put(report, spread, "%", "spread-runtime/thread", "% difference between max/avg runtime");
    put(report, bytes / tasks / 1e9, "GB", "data/thread", "GB data processed, per thread");
    put(report, bytes / 1e9, "GB", "data-total", "GB data processed, total");
    put(report, max * tasks / bytes, "nsecs", "runtime/byte/thread", "nsecs/byte/thread runtime");
    put(report, bytes / tasks / max, "GB/sec", "thread-speed", "GB/sec/thread speed");
    put(report, bytes / max, "GB/sec", "total-speed", "GB/sec total speed");
    if (options_.details > 1)
      for (size_t i = 0; i < tasks_; ++i) show_task(report, i);
  }

  void show_task(Reporter& report, size_t task) const {
    const TaskResult& result = results_[task];
    std::string name =
        fmt::format("process{}:thread{}", task / options_.threads, task % options_.threads);
    double speed = result.elapsed_ns == 0
                       ? 0
                       : static_cast<double>(result.bytes) / static_cast<double>(result.elapsed_ns);
    put_for(report, name, speed, "GB/sec", "thread-speed", "GB/sec/thread speed");
    put_for(report, name, static_cast<double>(result.system_us) / 1e6, "secs", "thread-system-time",
            "system CPU time/thread");
    put_for(report, name, static_cast<double>(result.user_us) / 1e6, "secs", "thread-user-time",
            "user CPU time/thread");
  }

  void put(Reporter& report, double value, std::string_view unit, std::string_view name,
           std::string_view text) const {
    put_for(report, "main,", value, fmt::format("{},", unit), name, text);
  }

  void put_for(Reporter& report, std::string_view whom, double value, std::string_view unit,
               std::string_view name, std::string_view text) const {
    if (options_.quiet) return report.line("{:15.3f} {}", value, text);
    report.line(" {:<30} {:15.3f}, {:<15} {}", whom, value, unit, name);
  }

  NumaOptions options_;
  size_t tasks_ = 0;
  std::vector<int> cpus_, nodes_;
  TaskResult* results_ = nullptr;
  std::atomic<uint64_t>* stop_ = nullptr;  // not 0: the tasks end; in memory that all share
  std::optional<double> converged_s_;      // the watcher's, until that has ended
  std::atomic<bool> has_ended_ = false;
  WalkedMemory global_, process_memory_;
  std::mutex locked_, starting_;
  int ready_ = -1, begin_ = -1;
};

}  // namespace

std::unique_ptr<Benchmark> make_numa_mem() {
  return std::make_unique<NumaMem>();
}

}  // namespace sonde
