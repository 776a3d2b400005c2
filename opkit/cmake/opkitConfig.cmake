# What `find_package(opkit)` gives: OPKIT_TOOLKIT, the folder of the bundled host simulator.
# scikit-build-core finds this file by opkit's entry point `cmake.prefix`.
set(OPKIT_TOOLKIT "${CMAKE_CURRENT_LIST_DIR}/../_data/toolkit")
if(NOT IS_DIRECTORY "${OPKIT_TOOLKIT}/lib64" AND Python_EXECUTABLE)
  # An editable install keeps it in its environment, which only its Python knows.
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c "from opkit.resources import bundled_toolkit; print(bundled_toolkit() or '')"
    OUTPUT_VARIABLE OPKIT_TOOLKIT
    OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET
  )
endif()
get_filename_component(OPKIT_TOOLKIT "${OPKIT_TOOLKIT}" ABSOLUTE)
if(NOT IS_DIRECTORY "${OPKIT_TOOLKIT}/lib64")
  set(opkit_FOUND FALSE)
  set(opkit_NOT_FOUND_MESSAGE "this opkit carries no simulator")
  unset(OPKIT_TOOLKIT)
endif()
