# perf.abi3.so: the Python module `perf` (docs/python-module.md), for Python 3.10 and later. A shared object needs code that is
# independent of its position, which the layers are not: what it uses of them is compiled again, a layer at a time.

# An interpreter that was not built with a sanitizer cannot load a library that is; the guest has Debian's module.
if(CMAKE_CROSSCOMPILING OR CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()

file(GLOB module_bindings CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/bindings/perf/*.cc")
file(GLOB_RECURSE module_base CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/base/*.cc")
file(GLOB module_abi CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/abi/*.cc")
file(GLOB_RECURSE module_event CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/event/*.cc")
file(GLOB module_perfdata CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/perfdata/records/*.cc")
set(module_capture rings/ring_buffer.cc opening/cpu_map.cc opening/thread_map.cc opening/event_config.cc
  recorders/off_cpu_event.cc)
list(TRANSFORM module_capture PREPEND "${CMAKE_SOURCE_DIR}/src/capture/")
set(module_analysis "${CMAKE_SOURCE_DIR}/src/analysis/counts/counted_event.cc")
foreach(part formula metrics metric_groups vendor_metrics)
  list(APPEND module_analysis "${CMAKE_SOURCE_DIR}/src/analysis/counts/${part}.cc")
endforeach()
set(module_cli "${CMAKE_SOURCE_DIR}/src/cli/config_files.cc")

add_library(sonde-perf MODULE)
foreach(layer base abi event perfdata capture analysis cli bindings)
  list(FILTER module_${layer} EXCLUDE REGEX "_test\\.cc$")
  # Read by targets that are built by groups, as this one alone is.
  set_source_files_properties(${module_${layer}} PROPERTIES UNITY_GROUP "${layer}")
  target_sources(sonde-perf PRIVATE ${module_${layer}})
endforeach()
target_include_directories(sonde-perf PRIVATE "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/bindings/perf")
target_include_directories(sonde-perf SYSTEM PRIVATE ${PYTHON_INCLUDE_DIRS})
target_compile_options(sonde-perf PRIVATE -fvisibility=hidden -ffunction-sections -fdata-sections)
target_link_libraries(sonde-perf PRIVATE sonde_warnings sonde_unity fmt::fmt PkgConfig::XXHASH TBB::tbb ${CMAKE_DL_LIBS})
target_link_options(sonde-perf PRIVATE -Wl,--gc-sections -Wl,--as-needed)
set_target_properties(sonde-perf PROPERTIES PREFIX "" OUTPUT_NAME perf SUFFIX .abi3.so POSITION_INDEPENDENT_CODE ON
  UNITY_BUILD ON UNITY_BUILD_MODE GROUP LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/python")
