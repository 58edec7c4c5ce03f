// The interpreter that runs one script: its start, the script's own code, and calls of its
// handlers.
//
//   Interpreter interpreter = TRY(Interpreter::start(setup));
//   TRY(interpreter.run_file("count.py"));
//   PyRef handler = interpreter.handler("trace_begin");
//   if (handler) TRY(interpreter.call(handler.get(), "trace_begin", {}));
//
// A function that fails has shown Python's traceback. sys.exit() is a failure, too: exit_status()
// tells it from others.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "python/python_library.h"

namespace sonde::python {

struct InterpreterSetup {
  std::string script;                  // a path
  std::vector<std::string> arguments;  // sys.argv[1:]
  std::string exec_path;               // PERF_EXEC_PATH, where scripts look for helper modules
  const Config& config;                // what perf_config_get answers; must outlive the interpreter
};

class Interpreter {
 public:
  /// A process has one at a time.
  static Result<Interpreter> start(const InterpreterSetup& setup);
  Interpreter(Interpreter&& other) noexcept
      : script_(std::move(other.script_)),
        is_running_(std::exchange(other.is_running_, false)),
        asks_for_places_(other.asks_for_places_),
        exit_status_(other.exit_status_) {}
  Interpreter& operator=(Interpreter&&) = delete;
  /// Writes out what the script printed, and ends its threads.
  ~Interpreter();

  /// Runs the script as __main__, in which `context` is then `perf_script_context`.
  Result<> run_file(const PyRef& context);
  /// A function of the script; null if it has none.
  [[nodiscard]] PyRef handler(const char* name) const;
  /// Whether a variable of the script is true.
  [[nodiscard]] bool is_set(const char* name) const;
  /// Calls with borrowed arguments.
  Result<> call(PyObject* handler, std::string_view name, std::span<PyObject* const> arguments);
  /// The same for arguments of which some may be null, if memory ran out.
  Result<> call_owned(PyObject* handler, std::string_view name, std::vector<PyRef> arguments);

  /// Whether the script may ask for the code or the lines of samples (perf_trace_context).
  [[nodiscard]] bool asks_for_places() const { return asks_for_places_; }
  /// Set after sys.exit().
  [[nodiscard]] std::optional<int> exit_status() const { return exit_status_; }
  /// Whether output could be written.
  Result<> flush();

 private:
  explicit Interpreter(std::string script) : script_(std::move(script)) {}
  [[nodiscard]] static PyObject* main_dict();
  /// Shows the pending exception, and returns the error that says where it came from.
  std::unexpected<Error> raised(std::string_view where);

  std::string script_;
  bool is_running_ = true;
  bool asks_for_places_ = false;
  std::optional<int> exit_status_;
};

/// The number of positional parameters of a Python function, and whether it takes any number.
struct Signature {
  int count = 0;
  bool takes_any = false;
  bool takes_chain = false;  // has a parameter named common_callchain or callchain
  /// By parameter: whether the function may look at it. Values of others need not be made.
  std::vector<bool> uses;
};
[[nodiscard]] Signature signature_of(PyObject* handler);

}  // namespace sonde::python
