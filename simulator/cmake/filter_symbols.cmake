# Writes a C++ file of assembly that defines every dynamic symbol of LIBRARIES (comma-separated): functions as functions, objects with their size.
#
# Weak definitions are left out: they come from headers, and a user of the header has a copy of its own.
string(REPLACE "," ";" libraries "${LIBRARIES}")
set(functions "")
set(objects "")
foreach(library IN LISTS libraries)
  execute_process(
    COMMAND "${NM}" --dynamic --defined-only --extern-only --format=posix "${library}"
    OUTPUT_VARIABLE table
    RESULT_VARIABLE status
    ERROR_VARIABLE reason
  )
  if(status)
    message(FATAL_ERROR "${NM} can't read ${library}: ${reason}")
  endif()
  string(REGEX MATCHALL "[^\n]+" lines "${table}")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([^ @]+)[^ ]* ([TBDR]) [0-9a-fA-F]+ ?([0-9a-fA-F]*)$")
      set(symbol "${CMAKE_MATCH_1}")
      set(type "${CMAKE_MATCH_2}")
      set(bytes "${CMAKE_MATCH_3}")
      if(symbol MATCHES "^(__odr_asan|_init$|_fini$|__bss_start$|_edata$|_end$)")
        continue()
      endif()
      if(type STREQUAL "T")
        list(APPEND functions "${symbol}")
      else()
        list(APPEND objects "${symbol}:${bytes}")
      endif()
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES functions)
list(REMOVE_DUPLICATES objects)

set(text "// Made by filter_symbols.cmake: dummy symbols for the linker. At run time the filtees come first.\n__asm__(\n    \".text\\n\"\n")
foreach(symbol IN LISTS functions)
  string(APPEND text "    \".globl ${symbol}\\n.type ${symbol}, STT_FUNC\\n${symbol}:\\n\"\n")
endforeach()
string(APPEND text "#if defined(__x86_64__)\n    \"ud2\\n\"\n#elif defined(__aarch64__)\n    \"brk #1\\n\"\n#endif\n")
string(APPEND text "    \".data\\n.balign 32\\n\"\n")
foreach(object IN LISTS objects)
  string(REGEX MATCH "^(.*):([^:]*)$" ignored "${object}")
  set(symbol "${CMAKE_MATCH_1}")
  set(bytes "${CMAKE_MATCH_2}")
  if(bytes STREQUAL "")
    set(bytes 0)
  endif()
  string(
    APPEND text
    "    \".globl ${symbol}\\n.type ${symbol}, STT_OBJECT\\n.size ${symbol}, 0x${bytes}\\n${symbol}:\\n.zero 0x${bytes}\\n.balign 32\\n\"\n"
  )
endforeach()
string(APPEND text "    \".text\\n\");\n")
file(WRITE "${OUTPUT}.tmp" "${text}")
file(RENAME "${OUTPUT}.tmp" "${OUTPUT}")
