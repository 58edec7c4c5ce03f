# While installing: a program without its debug information, and that information in a file of its own. A program finds it by its
# build id (as gdb's manual has it, "Debugging Information in Separate Files"): lib/debug/.build-id/12/3456….debug. Programs keep the
# names of their functions, packed (its "Debugging information in a special section", MiniDebugInfo): `sonde test` records functions of
# its own, and who profiles Sonde sees more than addresses.

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# install_stripped(PROGRAM DIRECTORY): into DIRECTORY below the prefix
function(install_stripped program directory)
  set(directory "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${directory}")
  get_filename_component(name "${program}" NAME)
  message(STATUS "Installing: ${directory}/${name}")
  file(MAKE_DIRECTORY "${directory}")
  if(name MATCHES "\\.so")
    run(objcopy --strip-unneeded --remove-section=.comment "${program}" "${directory}/${name}")
    file(CHMOD "${directory}/${name}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  else()
    set(packed "${directory}/.${name}.names")
    pack_names("${program}" "${packed}")
    run(objcopy --strip-unneeded --remove-section=.comment "--add-section=.gnu_debugdata=${packed}.xz" "${program}" "${directory}/${name}")
    file(REMOVE "${packed}.xz")
  endif()
endfunction()

# pack_names(PROGRAM FILE): FILE.xz is an ELF file of which only the symbols of functions are left.
function(pack_names program file)
  execute_process(COMMAND nm --format=posix --defined-only "${program}" COMMAND awk "$2 ~ /^[TtWw]$/ { print $1 }"
    OUTPUT_FILE "${file}.list" COMMAND_ERROR_IS_FATAL ANY)
  run(objcopy --strip-all "--keep-symbols=${file}.list" "${program}" "${file}.all")
  run(objcopy --only-keep-debug "${file}.all" "${file}")
  run(xz --force -6 --check=crc32 "${file}")
  file(REMOVE "${file}.list" "${file}.all")
endfunction()

function(install_debug_information program)
  execute_process(COMMAND readelf --notes --wide "${program}" OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)
  if(NOT notes MATCHES "Build ID: ([0-9a-f][0-9a-f])([0-9a-f]+)")
    message(FATAL_ERROR "${program} has no build id: debuggers could not find its debug information")
  endif()
  set(file "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/debug/.build-id/${CMAKE_MATCH_1}/${CMAKE_MATCH_2}.debug")
  message(STATUS "Installing: ${file}")
  get_filename_component(directory "${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${directory}")
  run(objcopy --only-keep-debug --compress-debug-sections "${program}" "${file}")
  file(CHMOD "${file}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()
