// pmus(): the PMUs of this machine, and what each of them counts. As in perf's module since 6.17.

#include <algorithm>

#include "event/pmu/event_catalog.h"
#include "objects.h"

namespace sonde::bindings {
namespace {

struct NamedPmu {
  std::string name;
};

std::vector<CatalogEvent> events_of(const std::string& pmu) {
  if (pmu == "software") return software_catalog(Sys::host());
  if (pmu == "tool") return tool_catalog();
  if (pmu == "tracepoint") {
    Tracefs tracefs;
    return tracepoint_catalog(tracefs);
  }
  PmuCatalog pmus;
  std::vector<CatalogEvent> events = pmu_catalog(pmus);
  std::erase_if(events, [&](const CatalogEvent& event) { return event.pmu != pmu; });
  return events;
}

/// Empty texts are left out.
bool put(PyObject* dict, const char* key, std::string_view text) {
  if (text.empty()) return true;
  PyRef value(text_object(text));
  return value && PyDict_SetItemString(dict, key, value.get()) == 0;
}

PyObject* event_dict(const CatalogEvent& event) {
  PyRef dict(PyDict_New());
  bool complete =
      dict && put(dict.get(), "name", event.name) && put(dict.get(), "alias", event.alias) &&
      put(dict.get(), "scale_unit", event.scale_unit) &&
      put(dict.get(), "desc", event.description) &&
      put(dict.get(), "encoding_desc", event.encoding) && put(dict.get(), "topic", event.pmu) &&
      put(dict.get(), "event_type_desc", class_name(event.kind));
  return complete ? dict.release() : nullptr;
}

PyObject* pmu_events(PyObject* self, PyObject* /*nothing*/) {
  PyRef list(PyList_New(0));
  if (!list) return nullptr;
  for (const CatalogEvent& event : events_of(unbox<NamedPmu>(self).name)) {
    PyRef dict(event_dict(event));
    if (!dict || PyList_Append(list.get(), dict.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* pmu_name(PyObject* self, PyObject* /*nothing*/) {
  return text_object(unbox<NamedPmu>(self).name);
}

PyObject* pmu_text(PyObject* self) {
  return text_object(fmt::format("pmu({})", unbox<NamedPmu>(self).name));
}

PyMethodDef pmu_methods[] = {{"name", method(&pmu_name), METH_NOARGS, "name(): the PMU's name"},
                             {"events", method(&pmu_events), METH_NOARGS,
                              "events(): a dict for each of its events: name, alias, scale_unit, "
                              "desc, encoding_desc, topic, "
                              "event_type_desc, as far as it has them"},
                             {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool add_pmus(PyObject* module) {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>("A PMU: something of the machine or the kernel that counts.")},
      {Py_tp_new, slot(&box_new<NamedPmu>)},
      {Py_tp_dealloc, slot(&box_free<NamedPmu>)},
      {Py_tp_repr, slot(&pmu_text)},
      {Py_tp_methods, pmu_methods},
      {0, nullptr}};
  PyType_Spec spec = {"perf.pmu", sizeof(Boxed<NamedPmu>), 0, Py_TPFLAGS_DEFAULT, slots};
  types().pmu = add_type(module, spec, "pmu");
  return types().pmu != nullptr;
}

PyObject* make_pmus() {
  PmuCatalog catalog;
  std::vector<std::string> names = {"tool"};
  for (const Pmu* pmu : catalog.all()) names.push_back(pmu->name());
  std::ranges::sort(names);
  PyRef list(PyList_New(0));
  for (std::string& name : names) {
    PyRef pmu(list ? box_new<NamedPmu>(types().pmu, nullptr, nullptr) : nullptr);
    if (!pmu) return nullptr;
    unbox<NamedPmu>(pmu.get()).name = std::move(name);
    if (PyList_Append(list.get(), pmu.get()) != 0) return nullptr;
  }
  return list ? PyObject_GetIter(list.get()) : nullptr;
}

}  // namespace sonde::bindings
