# How a library of the toolkit is built: one function for real libraries, one for umbrellas (filter libraries).
#
# A filter library names its filtees in its dynamic section: at run time the loader puts the filtees in front of it, at link time its own dummy symbols satisfy the
# linker. Symlinks would do the same but don't travel in wheels, and a linker stub without symbols wouldn't link a program by itself.

find_package(Threads REQUIRED)
find_program(OPKIT_SIM_NM NAMES "${CMAKE_NM}" nm llvm-nm REQUIRED)

set(opkit_sim_cmake_dir "${CMAKE_CURRENT_LIST_DIR}")
set(opkit_sim_source_dir "${CMAKE_CURRENT_SOURCE_DIR}")
set(opkit_sim_toolkit_dir "${CMAKE_CURRENT_BINARY_DIR}/toolkit")

# Compile and link options of everything that is ours, tests included.
add_library(opkit_sim_options INTERFACE)
target_compile_features(opkit_sim_options INTERFACE cxx_std_17)
target_compile_options(opkit_sim_options INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(OPKIT_SIM_SANITIZE)
  target_compile_options(opkit_sim_options INTERFACE "-fsanitize=${OPKIT_SIM_SANITIZE}" -fno-omit-frame-pointer)
  target_link_options(opkit_sim_options INTERFACE "-fsanitize=${OPKIT_SIM_SANITIZE}")
endif()

function(opkit_sim_common_properties name)
  set_target_properties(
    ${name}
    PROPERTIES
      OUTPUT_NAME ${name}
      CXX_EXTENSIONS OFF
      POSITION_INDEPENDENT_CODE ON
      LIBRARY_OUTPUT_DIRECTORY "${opkit_sim_toolkit_dir}/lib64"
      BUILD_RPATH "$ORIGIN"
      BUILD_RPATH_USE_ORIGIN ON
      INSTALL_RPATH "$ORIGIN"
      BUILD_WITH_INSTALL_RPATH ON
  )
  target_link_options(${name} PRIVATE -Wl,--enable-new-dtags)
  install(TARGETS ${name} LIBRARY DESTINATION "${OPKIT_SIM_DEST}/lib64")
endfunction()

# Gives <name> dummy definitions of all symbols that the filtees define, and the entries that make the loader put the filtees first.
# GNU ld keeps one DT_FILTER (the loader fails if that file is missing) and any number of DT_AUXILIARY, which the loader treats alike otherwise.
function(opkit_sim_filter name)
  set(dummies "${CMAKE_CURRENT_BINARY_DIR}/filters/${name}_filter.cpp")
  set(files "")
  set(kind filter)
  foreach(filtee IN LISTS ARGN)
    list(APPEND files "$<TARGET_FILE:${filtee}>")
    target_link_options(${name} PRIVATE "-Wl,--${kind}=lib${filtee}.so")
    set(kind auxiliary)
  endforeach()
  string(REPLACE ";" "," files "${files}")
  add_custom_command(
    OUTPUT "${dummies}"
    COMMAND
      ${CMAKE_COMMAND} "-DNM=${OPKIT_SIM_NM}" "-DLIBRARIES=${files}" "-DOUTPUT=${dummies}" -P "${opkit_sim_cmake_dir}/filter_symbols.cmake"
    DEPENDS ${ARGN} "${opkit_sim_cmake_dir}/filter_symbols.cmake"
    COMMENT "Dummy symbols of lib${name}.so"
    VERBATIM
  )
  target_sources(${name} PRIVATE "${dummies}")
endfunction()

# opkit_sim_library(<name> SOURCES <file>… [LINK <library>…] [FILTEES <target>…])
#
# A real shared library lib<name>.so: default visibility, SONAME lib<name>.so, RUNPATH $ORIGIN, installed to lib64. Includes are relative to include/
# and src/. FILTEES are targets whose symbols a program may also find by linking this library alone.
# Symbols that mention std::__cxx11 (std::string, std::list) are made local: they would tie the library to one ABI. A library that needs another's
# function must declare it without them.
function(opkit_sim_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;FILTEES")
  add_library(${name} SHARED ${arg_SOURCES})
  opkit_sim_common_properties(${name})
  target_include_directories(${name} PUBLIC "${opkit_sim_source_dir}/include" PRIVATE "${opkit_sim_source_dir}/src")
  target_link_libraries(${name} PRIVATE opkit_sim_options ${arg_LINK})
  target_link_options(${name} PRIVATE "-Wl,--version-script=${opkit_sim_cmake_dir}/no_cxx11_symbols.map")
  set_property(TARGET ${name} PROPERTY LINK_DEPENDS "${opkit_sim_cmake_dir}/no_cxx11_symbols.map")
  if(NOT OPKIT_SIM_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,--no-undefined)
  endif()
  if(arg_FILTEES)
    opkit_sim_filter(${name} ${arg_FILTEES})
  endif()
endfunction()

# opkit_sim_umbrella(<name> FILTEES <target>…)
#
# A filter library lib<name>.so: linking it alone links a program against what the filtees define.
function(opkit_sim_umbrella name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILTEES")
  add_library(${name} SHARED)
  opkit_sim_common_properties(${name})
  target_compile_features(${name} PRIVATE cxx_std_17)
  target_link_options(${name} PRIVATE -nostdlib)
  opkit_sim_filter(${name} ${arg_FILTEES})
endfunction()
