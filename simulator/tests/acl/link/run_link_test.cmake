# Compiles SOURCE with the given ABI and link line against TOOLKIT, as somebody outside would, and runs the result.
# KIND is "program" or "library"; a library is loaded by the program LOADER.
separate_arguments(link UNIX_COMMAND "${LINK}")
separate_arguments(flags UNIX_COMMAND "${FLAGS}")
file(MAKE_DIRECTORY "${FOLDER}")
set(output "${FOLDER}/${NAME}")
if(KIND STREQUAL "library")
  string(APPEND output ".so")
  list(APPEND flags -shared -fPIC)
endif()
execute_process(
  COMMAND
    "${CXX}" -std=c++17 -Wall -Wextra -Werror -D_GLIBCXX_USE_CXX11_ABI=${ABI} ${flags} "-I${TOOLKIT}/include" "-I${TOOLKIT}/include/graph"
    "-I${TOOLKIT}/include/register" "-I${TOOLKIT}/include/external" "-I${TOOLKIT}/include/ge" "-I${TOOLKIT}/opp/built-in/op_proto/inc"
    "${SOURCE}" -o "${output}" "-L${TOOLKIT}/lib64" ${link}
  RESULT_VARIABLE status
  OUTPUT_VARIABLE text
  ERROR_VARIABLE text
)
if(status)
  message(FATAL_ERROR "doesn't link with '${LINK}', ABI ${ABI}:\n${text}")
endif()
set(ENV{LD_LIBRARY_PATH} "${TOOLKIT}/lib64")
set(command "${output}")
if(KIND STREQUAL "library")
  set(command "${LOADER}" "${output}")
endif()
execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
message("${text}")
if(status)
  message(FATAL_ERROR "runs with status ${status}")
endif()
