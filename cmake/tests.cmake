# Tests beyond the unit tests, which layer() adds. All are run by ctest, named KIND.NAME:
#
#   golden             tests/golden/**.test through tools/golden.py
#   laws.NAME          tests/laws/NAME_test.py        the laws of ARCHITECTURE.md on every golden file and recording
#   recordings.NAME    tests/recordings/NAME_test.py  our own and other tools' files
#   oracle.NAME        tests/oracle/NAME_oracle.py    the installed perf's (and readelf's, nm's ...) answers against ours
#   live.NAME          tests/live/NAME_test.py        this machine's kernel
#   guest.NAME         tests/guest/NAME_test.py       emulated machines with other kernels and processors (docs/guests.md)
#   browser.NAME       tests/browser/NAME_test.py     pictures and pages in a headless Chromium (tests/browser.py)
#   tools.NAME         tests/tools/NAME_test.py       our own scripts
#
# Each script gets the binary in $SONDE, the sources in $SONDE_SOURCE, the build directory as its argument, and a directory of its
# own as the current one. $SONDE_CACHE is off, so that no test leaves anything in the user's cache, or finds it there. Exit status
# 77 means "the input isn't here" and shows as skipped. In the same directories, NAME_test.cc and its helpers are GoogleTest, one
# program KIND.programs for all of them; NAME_dump.cc is a separate program, in $SONDE_TOOLS, that a script runs for our side of a
# comparison.
#
# Tests of the kernel take turns (the resource `kernel`, and a lock that oracles hold while they record, tests/kernel_turn.py):
# concurrent recorders lose each other's events, and probes and BPF programs affect the whole machine. All others run in parallel
# with them, so each of them must pass on a busy machine. Guests and tests of the kernel start first: they take longest.
#
# Tests with the label `long` are left to `./dev test --all`: guests, and tests that take more than a few seconds where a quicker
# one covers the same command.
set(long_tests
  # guests boot and emulate
  guest.arm64 guest.x86
  # nearly two hundred command lines; other tests look at each command
  live.one_liners
  # hundreds of command lines under both tools; live.record and live.stat look at some
  oracle.record_attr oracle.stat
  # thousands of stacks of large programs; live.kernel_unwind has known chains
  oracle.kernel_unwind
)
# Oracles that record all the time; the others take the turn for the moment that they record in (tests/kernel_turn.py).
set(kernel_oracles oracle.aux oracle.kernel_unwind oracle.live_unwind oracle.record_attr oracle.stat oracle.trace oracle.trace_arguments)
set(kernel_turn "${CMAKE_BINARY_DIR}/tmp/kernel-turn")

find_package(Python3 REQUIRED COMPONENTS Interpreter)
pkg_check_modules(DW REQUIRED IMPORTED_TARGET libdw)  # a second opinion on call chains
pkg_check_modules(TRACEEVENT REQUIRED IMPORTED_TARGET libtraceevent)

function(program_tests kind)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${kind}/*.cc")
  set(dumps ${sources})
  list(FILTER dumps INCLUDE REGEX "_dump\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_dump\\.cc$")
  foreach(source IN LISTS dumps)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    target_link_libraries(${name} PRIVATE sonde_cmd sonde_warnings)
    if(name MATCHES "^libdw_")
      target_link_libraries(${name} PRIVATE PkgConfig::DW)
    endif()
    target_precompile_headers(${name} REUSE_FROM ${SONDE_PCH_OWNER})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  endforeach()
  if(sources)
    add_executable(${kind}_programs ${sources})
    target_include_directories(${kind}_programs PRIVATE "${CMAKE_SOURCE_DIR}")
    target_link_libraries(${kind}_programs PRIVATE sonde_cmd PkgConfig::TRACEEVENT)
    test_program(${kind}_programs)
    set_target_properties(${kind}_programs PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
    add_test(NAME ${kind}.programs COMMAND flock "${kernel_turn}" $<TARGET_FILE:${kind}_programs> WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
    set_tests_properties(${kind}.programs PROPERTIES RESOURCE_LOCK kernel TIMEOUT 900)
  endif()
endfunction()

function(script_tests kind)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/${kind}/*_test.py" "${CMAKE_SOURCE_DIR}/tests/${kind}/*_oracle.py")
  foreach(script IN LISTS scripts)
    get_filename_component(name "${script}" NAME_WE)
    string(REGEX REPLACE "_(test|oracle)$" "" name "${name}")
    set(directory "${CMAKE_BINARY_DIR}/tmp/${kind}.${name}")
    file(MAKE_DIRECTORY "${directory}")
    set(command "${Python3_EXECUTABLE}" "${script}" "${CMAKE_BINARY_DIR}")
    if(kind STREQUAL "live" OR ${kind}.${name} IN_LIST kernel_oracles)
      add_test(NAME ${kind}.${name} COMMAND flock "${kernel_turn}" ${command} WORKING_DIRECTORY "${directory}")
      set_tests_properties(${kind}.${name} PROPERTIES RESOURCE_LOCK kernel COST 100)
    else()
      add_test(NAME ${kind}.${name} COMMAND ${command} WORKING_DIRECTORY "${directory}")
    endif()
    set_tests_properties(${kind}.${name} PROPERTIES
      ENVIRONMENT "SONDE=$<TARGET_FILE:sonde>;SONDE_SOURCE=${CMAKE_SOURCE_DIR};SONDE_TOOLS=${CMAKE_BINARY_DIR}/tests;SONDE_CACHE=off;SONDE_SECOND_TRIES=${CMAKE_BINARY_DIR}/tmp/second-tries;SONDE_KERNEL_TURN=${kernel_turn};PYTHONPATH=${CMAKE_SOURCE_DIR}/tests;PYTHONDONTWRITEBYTECODE=1"
      SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT})
    if(${kind}.${name} IN_LIST long_tests)
      set_tests_properties(${kind}.${name} PROPERTIES LABELS long)
    endif()
  endforeach()
endfunction()

add_test(NAME golden
  COMMAND Python3::Interpreter "${CMAKE_SOURCE_DIR}/tools/golden.py" --sonde $<TARGET_FILE:sonde> "${CMAKE_SOURCE_DIR}/tests/golden")
script_tests(tools)
script_tests(laws)
script_tests(recordings)
script_tests(browser)
script_tests(oracle)
script_tests(live)
script_tests(guest TIMEOUT 3600)  # emulation, and possibly building the guest first
set_tests_properties(guest.arm64 guest.x86 PROPERTIES COST 1000)
program_tests(oracle)
program_tests(live)
