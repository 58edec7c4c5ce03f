#include "python/helper_modules.h"

#include <string_view>

#include "python/python_library.h"

namespace sonde {

// Embedded: src/python/modules.
std::string_view python_finder_module();
std::string_view python_core_module();
std::string_view python_util_module();
std::string_view python_event_class_module();
std::string_view python_sched_gui_module();

}  // namespace sonde

namespace sonde::python {

Result<> add_helper_modules() {
  PyRef sources(py().PyDict_New());
  put(sources.get(), "Core", text_object(python_core_module()));
  put(sources.get(), "Util", text_object(python_util_module()));
  put(sources.get(), "EventClass", text_object(python_event_class_module()));
  put(sources.get(), "SchedGui", text_object(python_sched_gui_module()));
  PyRef globals(py().PyDict_New());
  put(globals.get(), "sources", sources);
  PyRef code(py().Py_CompileStringExFlags(std::string(python_finder_module()).c_str(),
                                          "<sonde finder>", Py_file_input, nullptr, -1));
  PyRef result;
  if (code) result = PyRef(py().PyEval_EvalCode(code.get(), globals.get(), globals.get()));
  if (result) return {};
  py().PyErr_Print();
  return fail(ErrorCode::kFailed,
              "Python's standard library is not usable: see the exception above; install {}-stdlib",
              python_package());
}

}  // namespace sonde::python
