# Compiles compat/data/*.yaml into one compact file and embeds it: pawl_compat_data. The compiler of the data shares its
# reading and packing with the program, so that built-in rows and overrides are held to one schema.
set(compat_data
  "${CMAKE_CURRENT_SOURCE_DIR}/compat/data/gpus.yaml"
  "${CMAKE_CURRENT_SOURCE_DIR}/compat/data/drivers.yaml"
  "${CMAKE_CURRENT_SOURCE_DIR}/compat/data/cuda.yaml"
  "${CMAKE_CURRENT_SOURCE_DIR}/compat/data/frameworks.yaml"
  "${CMAKE_CURRENT_SOURCE_DIR}/compat/data/kernels.yaml"
  "${CMAKE_CURRENT_SOURCE_DIR}/compat/data/precompiled.yaml")
set(compat_schema "${CMAKE_CURRENT_SOURCE_DIR}/compat/data/schema.json")
set(compat_packed "${CMAKE_BINARY_DIR}/generated/compat/data.bin")

add_executable(compat_compile
  "${PROJECT_SOURCE_DIR}/tools/compat/compile.cpp" compat/schema.cpp compat/rows.cpp compat/packed.cpp)
target_link_libraries(compat_compile PRIVATE pawl_base)

add_custom_command(
  OUTPUT ${compat_packed}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/generated/compat
  COMMAND compat_compile ${compat_packed} ${compat_schema} ${compat_data}
  COMMAND ${CMAKE_COMMAND} -E touch ${compat_packed}
  DEPENDS compat_compile ${compat_schema} ${compat_data} VERBATIM)
add_custom_target(compat_packed_data DEPENDS ${compat_packed})

add_library(pawl_compat_data STATIC "${PROJECT_SOURCE_DIR}/tools/compat/embed.cpp")
target_include_directories(pawl_compat_data PUBLIC "${PROJECT_SOURCE_DIR}/src")
target_link_libraries(pawl_compat_data PUBLIC pawl_flags)
target_compile_definitions(pawl_compat_data PRIVATE "PAWL_COMPAT_DATA=\"${compat_packed}\"")
set_source_files_properties("${PROJECT_SOURCE_DIR}/tools/compat/embed.cpp" PROPERTIES OBJECT_DEPENDS "${compat_packed}")
add_dependencies(pawl_compat_data compat_packed_data)
