// Whether Python scripts can run here, for those who do not run one.
#pragma once

namespace sonde::python {

/// Whether a libpython is installed whose release is known (python_library.h).
[[nodiscard]] bool is_python_installed();

}  // namespace sonde::python
