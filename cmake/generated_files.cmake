# While installing: what `sonde` generates from its tables of flags. Its settings are not the user's.

function(install_generated_files sonde datadir mandir)
  set(ENV{PERF_CONFIG} /dev/null)
  set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  # zsh's packages on Debian look there below /usr; its own default, which others keep to, is site-functions.
  set(zsh zsh/site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
    set(zsh zsh/vendor-completions)
  endif()

  function(generate file)
    message(STATUS "Installing: ${file}")
    get_filename_component(directory "${file}" DIRECTORY)
    file(MAKE_DIRECTORY "${directory}")
    execute_process(COMMAND "${sonde}" help ${ARGN} OUTPUT_FILE "${file}" COMMAND_ERROR_IS_FATAL ANY)
    file(CHMOD "${file}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endfunction()

  generate("${prefix}/${datadir}/bash-completion/completions/sonde" --completion bash)
  generate("${prefix}/${datadir}/${zsh}/_sonde" --completion zsh)
  generate("${prefix}/${datadir}/fish/vendor_completions.d/sonde.fish" --completion fish)
  generate("${prefix}/${mandir}/man1/sonde.1" --troff)
  execute_process(COMMAND "${sonde}" --list-cmds OUTPUT_VARIABLE commands OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE " " ";" commands "${commands}")
  foreach(command IN LISTS commands)
    generate("${prefix}/${mandir}/man1/sonde-${command}.1" --troff ${command})
  endforeach()
endfunction()
