# The installed toolkit, moved to a folder with a space: its files, and a program that is compiled and run with it.
file(REMOVE_RECURSE "${FOLDER}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FOLDER}/first"
  OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY
)
file(RENAME "${FOLDER}/first" "${FOLDER}/a toolkit")
set(toolkit "${FOLDER}/a toolkit")

file(READ "${toolkit}/opkit-simulator.json" json)
string(JSON kind GET "${json}" kind)
string(JSON version GET "${json}" version)
if(NOT kind STREQUAL "simulator" OR NOT version MATCHES "^[0-9]+\\.[0-9]+\\.[0-9]+$")
  message(FATAL_ERROR "opkit-simulator.json: ${json}")
endif()
file(STRINGS "${toolkit}/version.info" lines)
list(GET lines 0 first)
if(NOT first STREQUAL "Version=${version}-sim")
  message(FATAL_ERROR "version.info begins with '${first}'")
endif()
foreach(
  file
  IN
  ITEMS
    include/acl/acl.h
    include/acl/error_codes/rt_error_codes.h
    include/acl/acl_rt_compile.h
    include/opkit_sim/kernel_entry.h
    include/kernel_operator.h
    lib64/libascendcl.so
    lib64/libacl_rt.so
    lib64/libacl_rtc.so
)
  if(NOT EXISTS "${toolkit}/${file}")
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
file(GLOB_RECURSE files "${toolkit}/*")
foreach(file IN LISTS files)
  if(IS_SYMLINK "${file}")
    message(FATAL_ERROR "${file} is a symbolic link")
  endif()
endforeach()

# Sourced by a shell with an empty environment that stops at the first unset variable; twice adds nothing.
execute_process(
  COMMAND env -i bash -euo pipefail -c ". '${toolkit}/set_env.sh'; . '${toolkit}/set_env.sh'; echo \"$ASCEND_HOME_PATH|$LD_LIBRARY_PATH\""
  OUTPUT_VARIABLE shown
  OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY
)
if(NOT shown STREQUAL "${toolkit}|${toolkit}/lib64")
  message(FATAL_ERROR "set_env.sh gives '${shown}'")
endif()
execute_process(
  COMMAND env -i "ASCEND_HOME_PATH=${toolkit}" "LD_LIBRARY_PATH=/x" sh -eu -c ". '${toolkit}/set_env.sh'; echo \"$LD_LIBRARY_PATH\""
  OUTPUT_VARIABLE shown
  OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY
)
if(NOT shown STREQUAL "${toolkit}/lib64:/x")
  message(FATAL_ERROR "set_env.sh in sh gives '${shown}'")
endif()

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
execute_process(
  COMMAND "${CXX}" -std=c++17 ${flags} "-I${toolkit}/include" "${SOURCE}" -o "${FOLDER}/program" "-L${toolkit}/lib64" -lascendcl
  COMMAND_ERROR_IS_FATAL ANY
)
set(ENV{LD_LIBRARY_PATH} "${toolkit}/lib64")
execute_process(COMMAND "${FOLDER}/program" OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
if(NOT shown STREQUAL "result 42\n")
  message(FATAL_ERROR "the program printed '${shown}'")
endif()
