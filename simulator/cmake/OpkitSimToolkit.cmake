# The rest of the toolkit's tree (headers, protos, version files), installed, and linked into the build tree so that tests use the same layout.

set(toolkit_files "${CMAKE_CURRENT_BINARY_DIR}/toolkit_files")
configure_file(cmake/version.info.in "${toolkit_files}/version.info" @ONLY)
configure_file(cmake/opkit-simulator.json.in "${toolkit_files}/opkit-simulator.json" @ONLY)
configure_file(cmake/set_env.sh.in "${toolkit_files}/set_env.sh" @ONLY)

install(
  FILES "${toolkit_files}/version.info" "${toolkit_files}/opkit-simulator.json" "${toolkit_files}/set_env.sh"
  DESTINATION "${OPKIT_SIM_DEST}"
)
install(DIRECTORY include/ DESTINATION "${OPKIT_SIM_DEST}/include")
if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/opp")
  install(DIRECTORY opp/ DESTINATION "${OPKIT_SIM_DEST}/opp")
  # Two places: sample projects look under opp/, the 9.x documentation names op_graph/inc.
  install(DIRECTORY opp/built-in/op_proto/inc/ DESTINATION "${OPKIT_SIM_DEST}/op_graph/inc")
endif()

file(MAKE_DIRECTORY "${opkit_sim_toolkit_dir}/op_graph")
foreach(entry IN ITEMS include opp)
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/${entry}" "${opkit_sim_toolkit_dir}/${entry}" SYMBOLIC)
endforeach()
file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}/opp/built-in/op_proto/inc" "${opkit_sim_toolkit_dir}/op_graph/inc" SYMBOLIC)
foreach(entry IN ITEMS version.info opkit-simulator.json set_env.sh)
  file(COPY "${toolkit_files}/${entry}" DESTINATION "${opkit_sim_toolkit_dir}")
endforeach()
