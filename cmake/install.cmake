# `cmake --install build/release --prefix DIR`: programs, stripped, with their debug information beside them; the files that `sonde`
# generates (manual pages, completion); documentation. Each component is a Debian package (tools/packaging/deb.py); --component
# installs one alone.

include(GNUInstallDirs)

# strip_program(TARGET COMPONENT DIRECTORY [EXCLUDE_FROM_ALL]): the program without debug information below the prefix, and that
# information, by build id, where debuggers and Sonde itself look for it.
function(strip_program target component directory)
  set(function "include(\"${CMAKE_SOURCE_DIR}/cmake/stripped.cmake\")")
  set(program "\"$<TARGET_FILE:${target}>\"")
  set(debug sonde-dbgsym)
  if(component STREQUAL "portable")
    set(debug portable-dbgsym)
  endif()
  install(CODE "${function}\ninstall_stripped(${program} \"${directory}\")" COMPONENT ${component} ${ARGN})
  install(CODE "${function}\ninstall_debug_information(${program})" COMPONENT ${debug} ${ARGN})
endfunction()

strip_program(sonde sonde ${CMAKE_INSTALL_BINDIR})
install(FILES "${CMAKE_SOURCE_DIR}/src/script/dlfilters/perf_dlfilter.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sonde" COMPONENT sonde)
install(FILES "${CMAKE_SOURCE_DIR}/README.md" "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/sonde" COMPONENT sonde)
# README.md's links lead there.
install(DIRECTORY "${CMAKE_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/sonde" COMPONENT sonde)
install(CODE "
  include(\"${CMAKE_SOURCE_DIR}/cmake/generated_files.cmake\")
  install_generated_files(\"$<TARGET_FILE:sonde>\" \"${CMAKE_INSTALL_DATADIR}\" \"${CMAKE_INSTALL_MANDIR}\")
" COMPONENT sonde)

if(TARGET sonde-jvmti)
  strip_program(sonde-jvmti sonde-jvmti lib/sonde)
endif()

set(SONDE_PYTHON_MODULES "" CACHE STRING "directory of the Python module perf, below the prefix; empty: where Debian's python3 looks")
if(TARGET sonde-perf)
  # The prefix may be given only now: python3 looks in one place below /usr, and in another below /usr/local.
  install(CODE "
    set(modules \"${SONDE_PYTHON_MODULES}\")
    if(NOT modules AND CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      set(modules lib/python3/dist-packages)
    elseif(NOT modules)
      set(modules lib/python${PYTHON_VERSION}/dist-packages)
    endif()
    include(\"${CMAKE_SOURCE_DIR}/cmake/stripped.cmake\")
    install_stripped(\"$<TARGET_FILE:sonde-perf>\" \"\${modules}\")
  " COMPONENT python3-sonde)
  install(CODE "
    include(\"${CMAKE_SOURCE_DIR}/cmake/stripped.cmake\")
    install_debug_information(\"$<TARGET_FILE:sonde-perf>\")
  " COMPONENT sonde-dbgsym)
endif()

# What the archive of ./dev tarball has instead of these programs.
if(TARGET sonde-portable)
  strip_program(sonde-portable portable ${CMAKE_INSTALL_BINDIR} EXCLUDE_FROM_ALL)
  strip_program(sonde-jvmti-portable portable lib/sonde EXCLUDE_FROM_ALL)
  install(CODE "
    file(INSTALL \"${portable_libs}/libipt.so.2\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/sonde\" FOLLOW_SYMLINK_CHAIN)
  " COMPONENT portable EXCLUDE_FROM_ALL)
endif()

# What `cmake --install` needs, and no more.
add_custom_target(installable DEPENDS sonde)
foreach(target sonde-jvmti sonde-perf)
  if(TARGET ${target})
    add_dependencies(installable ${target})
  endif()
endforeach()
