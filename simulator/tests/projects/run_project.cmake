# Builds a project against the toolkit as its author would and runs it: cmake -DPROJECT= -DWORK= -DTOOLKIT= -DPROGRAM= -DEXIT= -DTEXT= -DQUIET= [-DFLAGS=]
#
# The project is copied first: it writes its output beside its sources, as such projects do.
file(REMOVE_RECURSE "${WORK}")
file(COPY "${PROJECT}" DESTINATION "${WORK}")
get_filename_component(name "${PROJECT}" NAME)
set(source "${WORK}/${name}")

# Nothing that a developer's shell might add may help.
set(
  environment
  --unset=LD_LIBRARY_PATH
  --unset=CPATH
  --unset=LIBRARY_PATH
  "CXXFLAGS=${FLAGS}"
  "LDFLAGS=${FLAGS}"
  "ASCEND_HOME_PATH=${TOOLKIT}"
  "ASCEND_CUSTOM_OPP_PATH=${source}/output:"
)

function(run)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env ${environment} ${ARGN}
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output
  )
  set(result "${result}" PARENT_SCOPE)
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(
  "${CMAKE_COMMAND}"
  -S
  "${source}"
  -B
  "${source}/build"
  -DCMAKE_BUILD_TYPE=Release
)
if(result EQUAL 0)
  run("${CMAKE_COMMAND}" --build "${source}/build")
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${name} doesn't build:\n${output}")
endif()

run("${source}/build/${PROGRAM}")
string(FIND "${output}" "${TEXT}" position)
if(NOT result EQUAL EXIT OR position EQUAL -1)
  message(FATAL_ERROR "${name}: expected exit ${EXIT} and \"${TEXT}\", got exit ${result} and:\n${output}")
endif()
string(FIND "${output}" "[ERROR]" position)
if(QUIET AND NOT position EQUAL -1)
  message(FATAL_ERROR "${name} printed errors:\n${output}")
endif()
