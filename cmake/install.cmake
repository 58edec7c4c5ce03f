# `cmake --install build/release --prefix DIR`: the binary, and what it says of itself (manual pages, completion).

include(GNUInstallDirs)
install(TARGETS sonde RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(CODE "
  set(sonde \"${CMAKE_BINARY_DIR}/sonde\")
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(man \"\${prefix}/${CMAKE_INSTALL_MANDIR}/man1\")
  set(completions \"\${prefix}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions\")
  file(MAKE_DIRECTORY \"\${man}\" \"\${completions}\")
  execute_process(COMMAND \"\${sonde}\" help --completion bash OUTPUT_FILE \"\${completions}/sonde\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \"\${sonde}\" help --troff OUTPUT_FILE \"\${man}/sonde.1\" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND \"\${sonde}\" --list-cmds OUTPUT_VARIABLE commands OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE \" \" \";\" commands \"\${commands}\")
  foreach(command IN LISTS commands)
    execute_process(COMMAND \"\${sonde}\" help --troff \"\${command}\" OUTPUT_FILE \"\${man}/sonde-\${command}.1\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
")
