// The types of the module `perf`, and what its files know of each other.
#pragma once

#include <memory>
#include <vector>

#include "kernel_event.h"
#include "metrics.h"
#include "python_api.h"

namespace sonde::bindings {

using Cpus = std::vector<int>;
using Threads = std::vector<pid_t>;

/// An evlist: events, where they are opened, and their rings.
struct EventsOnTarget {
  Cpus cpus;
  Threads threads;
  std::vector<PyRef> events;  // evsel objects
  MetricsOfEvents metrics;    // of parse_metrics: computed from these events
  EventRings rings;           // go before the events that they belong to
};

struct Types {
  PyTypeObject* cpu_map = nullptr;
  PyTypeObject* thread_map = nullptr;
  PyTypeObject* counts_values = nullptr;
  PyTypeObject* evsel = nullptr;
  PyTypeObject* evlist = nullptr;
  PyTypeObject* pmu = nullptr;
};
/// Filled when the module is imported, and never changed again.
Types& types();

[[nodiscard]] bool add_maps(PyObject* module);
[[nodiscard]] bool add_events(PyObject* module);
[[nodiscard]] bool add_evsel(PyObject* module);
[[nodiscard]] bool add_evlist(PyObject* module);
[[nodiscard]] bool add_pmus(PyObject* module);

/// An object of one of the types, made of a value; null: an exception is set.
PyObject* make_cpu_map(Cpus cpus);
PyObject* make_thread_map(Threads threads);
PyObject* make_evsel(ParsedEvent event);
PyObject* make_evlist(EventsOnTarget target);
/// An iterator over the PMUs of this machine.
PyObject* make_pmus();

/// What a cpu_map or thread_map argument says: any CPU, any thread, if it is null or None. False:
/// it is neither that nor such a map, and an exception is set.
[[nodiscard]] bool cpus_from(PyObject* map, Cpus& cpus);
[[nodiscard]] bool threads_from(PyObject* map, Threads& threads);

/// The object for a record; null without an exception: records of this type have no class.
PyObject* make_event(const EventRecord& record, PyObject* evsel);

}  // namespace sonde::bindings
