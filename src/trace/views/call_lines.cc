#include "trace/views/call_lines.h"

#include <fmt/compile.h>

#include "base/printing/printable.h"
#include "trace/views/ms_text.h"

namespace sonde {
namespace {

constexpr size_t kTimeWidth = 10, kDurationWidth = 6, kCommWidth = 14;

}  // namespace

void CallLines::append_time(uint64_t time_ns, std::string& out) const {
  append_ms(time_ns > base_ns_ ? time_ns - base_ns_ : 0, kTimeWidth, out);
  out += ' ';
}

void CallLines::append_duration(std::optional<uint64_t> duration_ns, std::string& out) const {
  if (!options_.show_duration) return;
  out += '(';
  if (duration_ns) {
    append_ms(*duration_ns, kDurationWidth, out);
    out += " ms";
  } else {
    out += "         ";
  }
  out += "): ";
}

void CallLines::append_task(const TracedTask& task, std::string& out) const {
  if (!options_.show_task) return;
  if (options_.show_comm) {
    size_t begin = out.size();
    out.append(task.comm, 0, kCommWidth);
    if (options_.is_shown) make_printable(out, begin);
    out += '/';
  }
  fmt::format_to(std::back_inserter(out), FMT_COMPILE("{} "), task.tid);
}

void CallLines::head(const TracedTask& task, uint64_t entry_ns, bool has_duration,
                     uint64_t duration_ns, std::string& out) const {
  if (options_.show_timestamp && entry_ns != 0)
    append_time(entry_ns, out);
  else if (options_.show_timestamp)
    out += "         ? ";
  append_duration(has_duration ? std::optional(duration_ns) : std::nullopt, out);
  append_task(task, out);
}

void CallLines::append_call(const SyscallEvent& call, std::string& out) {
  size_t begin = out.size();
  out += texts_.name(call.abi, call.number);
  out += '(';
  texts_.append_arguments(call, out);
  if (options_.is_shown) make_printable(out, begin);
}

void CallLines::cut_off(TracedTask& task, std::string& out) {
  head(task, task.entry_ns, false, 0, out);
  out += task.entry_text;
  out += ')';
  size_t size = task.entry_text.size() + 1,
         column = options_.result_column > 4 ? options_.result_column - 4 : 0;
  if (size < column) out.append(column - size, ' ');
  out += " ...\n";
  task.is_pending = false;
  ++lines_made_;
}

void CallLines::interrupt(std::string& out) {
  if (current_ == nullptr || !current_->is_pending || options_.failed_only) return;
  cut_off(*current_, out);
}

void CallLines::forget(TracedTask& task, std::string& out) {
  if (task.is_pending && shows_cut_lines()) cut_off(task, out);
  task.is_pending = false;
  if (current_ == &task) current_ = nullptr;
}

void CallLines::enter(TracedTask& task, const SyscallEvent& call, std::string& out) {
  // A thread that sleeps several times in one call is reported each time.
  if (is_in(task, call)) return;
  bool cuts = shows_cut_lines();
  if (cuts) interrupt(out);
  task.entry_ns = call.entry_ns;
  task.entry_number = call.number;
  task.entry_args = call.args;
  task.is_pending = false;
  current_ = &task;
  if (!options_.lines) return;
  task.entry_text.clear();
  append_call(call, task.entry_text);
  task.is_pending = true;
  if (!texts_.never_returns(call.abi, call.number)) return;
  task.is_pending = false;
  if (!cuts) return;
  head(task, task.entry_ns, false, 0, out);
  out += task.entry_text;
  out += ')';
  size_t size = task.entry_text.size() + 1;
  out.append(size < options_.result_column ? options_.result_column - size : 1, ' ');
  out += "= ?\n";
}

bool CallLines::passes(bool known, uint64_t duration_ns, const SyscallEvent& call,
                       const ChainOf& chain) const {
  if (options_.min_duration_ns != 0 && (!known || duration_ns < options_.min_duration_ns))
    return false;
  if (chain.append && chain.depth < options_.min_stack) return false;
  return options_.lines && !(options_.failed_only && call.result >= 0);
}

/// Appends what follows the arguments; `text_size` is the length of the call's text so far.
void CallLines::end_of_call(size_t text_size, const SyscallEvent& call, std::string& out) {
  ++text_size;  // the parenthesis
  out += ')';
  out.append(text_size < options_.result_column ? options_.result_column - text_size : 1, ' ');
  out += "= ";
  size_t begin = out.size();
  texts_.append_result(call, out);
  if (options_.is_shown) make_printable(out, begin);
  out += '\n';
  ++lines_made_;
}

bool CallLines::leave(TracedTask& task, const SyscallEvent& call, const ChainOf& chain,
                      std::string& out) {
  bool known = task.entry_ns != 0 && task.entry_number == call.number;
  uint64_t entry_ns = known ? task.entry_ns : 0;
  uint64_t duration = known && call.exit_ns > entry_ns ? call.exit_ns - entry_ns : 0;
  bool shows = passes(known, duration, call, chain);
  SyscallEvent done = call;
  if (known && !call.has_entry) {
    done.args = task.entry_args;
    done.entry_ns = entry_ns;
    done.has_entry = true;
  }
  if (shows) {
    head(task, entry_ns, known, duration, out);
    size_t from = out.size();
    if (!task.is_pending || !known) {
      out += " ... [continued]: ";
      out += texts_.name(call.abi, call.number);
      out += "()";
    } else if (call.has_entry) {
      append_call(call, out);
    } else {
      out += task.entry_text;
    }
    end_of_call(out.size() - from, done, out);
    if (chain.append) chain.append(out);
  }
  if (options_.lines && done.has_entry) texts_.follow(done);
  task.is_pending = false;
  task.entry_ns = 0;
  return shows;
}

bool CallLines::whole(TracedTask& task, const SyscallEvent& call, const ChainOf& chain,
                      std::string& out) {
  if (is_in(task, call)) return leave(task, call, chain, out);
  if (shows_cut_lines()) interrupt(out);
  task.is_pending = false;
  task.entry_ns = 0;
  uint64_t duration = call.exit_ns > call.entry_ns ? call.exit_ns - call.entry_ns : 0;
  bool shows = passes(true, duration, call, chain);
  if (shows) {
    head(task, call.entry_ns, true, duration, out);
    size_t from = out.size();
    append_call(call, out);
    end_of_call(out.size() - from, call, out);
    if (chain.append) chain.append(out);
  }
  if (options_.lines) texts_.follow(call);
  return shows;
}

}  // namespace sonde
