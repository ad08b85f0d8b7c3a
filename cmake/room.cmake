# Rooms: the folders under src/ and who may know whom.
#
#   pawl_room(NAME DIR folder… LINKS target…)
#
# makes the static library pawl_NAME from the .cpp files of the folders (not of their sub-folders), less *_test.cpp,
# and, where there are any, the program NAME_test from *_test.cpp. LINKS is the whole of what a room may use: a room
# that includes what it does not link fails tools/check-rooms, which reads the same table.
add_custom_target(unit_tests COMMENT "All unit tests are built")

function(pawl_room name)
  cmake_parse_arguments(ROOM "NO_TESTS" "" "DIR;LINKS;TEST_LINKS" ${ARGN})
  set(sources)
  set(tests)
  foreach(dir ${ROOM_DIR})
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")

  if(sources)
    add_library(pawl_${name} STATIC ${sources})
    target_include_directories(pawl_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(pawl_${name} PUBLIC pawl_flags ${ROOM_LINKS})
  else()
    add_library(pawl_${name} INTERFACE)
    target_include_directories(pawl_${name} INTERFACE "${PROJECT_SOURCE_DIR}/src")
    target_link_libraries(pawl_${name} INTERFACE pawl_flags ${ROOM_LINKS})
  endif()

  if(tests AND NOT ROOM_NO_TESTS)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE pawl_${name} ${ROOM_TEST_LINKS} GTest::gmock GTest::gtest_main)
    add_dependencies(unit_tests ${name}_test)
    # What is tested is compiled as it is shipped; the tests themselves need not be fast.
    target_compile_options(${name}_test PRIVATE -O0)
    # Tests run in the repository's root and name their files from there, so that an object of one clone is good for
    # another (ccache).
    gtest_discover_tests(${name}_test WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS unit)
  endif()
endfunction()
