#include "libtraceevent_oracle.h"

#include <traceevent/event-parse.h>

#include <cstring>

namespace sonde::oracle {

struct TraceEvent::State {
  tep_handle* handle = nullptr;
  tep_event* event = nullptr;
  int id = 0;
};

namespace {

std::string finish(trace_seq& sequence) {
  trace_seq_terminate(&sequence);
  std::string text = sequence.buffer;
  trace_seq_destroy(&sequence);
  return text;
}

}  // namespace

TraceEvent::TraceEvent(std::string_view format, std::string_view system)
    : state_(std::make_unique<State>()) {
  tep_set_loglevel(TEP_LOG_NONE);
  state_->handle = tep_alloc();
  tep_set_long_size(state_->handle, 8);
  char name[] = "known_function";
  char end[] = "after_it";
  tep_register_function(state_->handle, name, kFunction, nullptr);
  tep_register_function(state_->handle, end, kFunctionEnd, nullptr);
  std::string copy(format);
  tep_parse_event(state_->handle, copy.c_str(), copy.size(), std::string(system).c_str());
  tep_event** all = tep_list_events(state_->handle, TEP_EVENT_SORT_ID);
  if (all != nullptr) state_->event = all[0];
}

TraceEvent::~TraceEvent() {
  tep_free(state_->handle);
}

bool TraceEvent::parsed() const {
  return state_->event != nullptr &&
         (state_->event->flags & static_cast<int>(TEP_EVENT_FL_FAILED)) == 0;
}

std::string TraceEvent::print(Bytes raw) const {
  trace_seq sequence;
  trace_seq_init(&sequence);
  tep_record record{};
  record.size = static_cast<int>(raw.size());
  std::string copy(as_text(raw));
  record.data = copy.data();
  tep_print_event(state_->handle, &sequence, &record, "%s", TEP_PRINT_INFO);
  return finish(sequence);
}

std::string TraceEvent::print_fields(Bytes raw) const {
  trace_seq sequence;
  trace_seq_init(&sequence);
  std::string copy(as_text(raw));
  tep_print_fields(&sequence, copy.data(), static_cast<int>(raw.size()), state_->event);
  return finish(sequence);
}

}  // namespace sonde::oracle
