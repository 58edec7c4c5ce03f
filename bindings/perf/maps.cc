// cpu_map and thread_map: sequences of the numbers of CPUs and threads.

#include "capture/opening/cpu_map.h"
#include "capture/opening/thread_map.h"
#include "event/pmu/pmu.h"
#include "objects.h"

namespace sonde::bindings {
namespace {

template <typename Numbers>
Py_ssize_t map_length(PyObject* self) {
  return static_cast<Py_ssize_t>(unbox<Numbers>(self).size());
}

template <typename Numbers>
PyObject* map_item(PyObject* self, Py_ssize_t index) {
  const Numbers& numbers = unbox<Numbers>(self);
  if (index >= 0 && static_cast<size_t>(index) < numbers.size())
    return PyLong_FromLong(numbers[static_cast<size_t>(index)]);
  PyErr_SetString(PyExc_IndexError, "map index out of range");
  return nullptr;
}

struct CpuMap {
  Cpus numbers;
  [[nodiscard]] size_t size() const { return numbers.size(); }
  int operator[](size_t i) const { return numbers[i]; }
};
struct ThreadMap {
  Threads numbers;
  [[nodiscard]] size_t size() const { return numbers.size(); }
  pid_t operator[](size_t i) const { return numbers[i]; }
};

int cpu_map_init(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"cpustr", nullptr};
  const char* list = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|z", const_cast<char**>(names), &list))
    return -1;
  if (list == nullptr) {
    Result<Cpus> online = online_cpus();
    if (!online) return raise(online.error()), -1;
    unbox<CpuMap>(self).numbers = std::move(*online);
    return 0;
  }
  std::optional<Cpus> listed = parse_cpu_list(list);
  if (!listed) {
    PyErr_Format(PyExc_ValueError, "cpu_map: not a list of CPUs, as in 0-3,8: '%s'", list);
    return -1;
  }
  unbox<CpuMap>(self).numbers = std::move(*listed);
  return 0;
}

Result<Threads> threads_of(int pid, int tid, unsigned uid) {
  if (pid == -1 && uid == UINT_MAX) return Threads{tid};  // -1: any
  Result<std::vector<ThreadEntry>> entries =
      pid != -1 ? threads_of_processes(std::to_string(pid)) : threads_of_user(std::to_string(uid));
  if (!entries) return std::unexpected(entries.error());
  Threads threads;
  for (const ThreadEntry& entry : *entries) threads.push_back(entry.tid);
  return threads;
}

int thread_map_init(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"pid", "tid", "uid", nullptr};
  int pid = -1, tid = -1;
  unsigned uid = UINT_MAX;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|iiI", const_cast<char**>(names), &pid,
                                   &tid, &uid))
    return -1;
  Result<Threads> threads = threads_of(pid, tid, uid);
  if (!threads) return raise(threads.error()), -1;
  unbox<ThreadMap>(self).numbers = std::move(*threads);
  return 0;
}

template <typename Map>
PyTypeObject* add_map(PyObject* module, const char* name, const char* text, initproc init) {
  PyType_Slot slots[] = {{Py_tp_new, slot(&box_new<Map>)},
                         {Py_tp_dealloc, slot(&box_free<Map>)},
                         {Py_tp_init, slot(init)},
                         {Py_sq_length, slot(&map_length<Map>)},
                         {Py_sq_item, slot(&map_item<Map>)},
                         {Py_tp_doc, const_cast<char*>(text)},
                         {0, nullptr}};
  std::string full_name = std::string("perf.") + name;
  PyType_Spec spec = {full_name.c_str(), sizeof(Boxed<Map>), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return add_type(module, spec, name);
}

template <typename Map, typename Numbers>
PyObject* make_map(PyTypeObject* type, Numbers numbers) {
  PyObject* map = box_new<Map>(type, nullptr, nullptr);
  if (map != nullptr) unbox<Map>(map).numbers = std::move(numbers);
  return map;
}

template <typename Map, typename Numbers>
bool numbers_from(PyObject* map, PyTypeObject* type, const char* name, Numbers& numbers) {
  if (map == nullptr || map == Py_None) {
    numbers = {-1};
    return true;
  }
  if (PyObject_TypeCheck(map, type) == 0) {
    PyErr_Format(PyExc_TypeError, "a perf.%s is wanted, not %R", name, map);
    return false;
  }
  numbers = unbox<Map>(map).numbers;
  return true;
}

}  // namespace

bool add_maps(PyObject* module) {
  types().cpu_map = add_map<CpuMap>(
      module, "cpu_map", "CPUs: those of a list (cpustr='0-3,8'), or all that are online.",
      &cpu_map_init);
  types().thread_map = add_map<ThreadMap>(
      module, "thread_map", "Threads: those of a process, one, those of a user; or any (-1).",
      &thread_map_init);
  return types().cpu_map != nullptr && types().thread_map != nullptr;
}

PyObject* make_cpu_map(Cpus cpus) {
  return make_map<CpuMap>(types().cpu_map, std::move(cpus));
}

PyObject* make_thread_map(Threads threads) {
  return make_map<ThreadMap>(types().thread_map, std::move(threads));
}

bool cpus_from(PyObject* map, Cpus& cpus) {
  return numbers_from<CpuMap>(map, types().cpu_map, "cpu_map", cpus);
}

bool threads_from(PyObject* map, Threads& threads) {
  return numbers_from<ThreadMap>(map, types().thread_map, "thread_map", threads);
}

}  // namespace sonde::bindings
