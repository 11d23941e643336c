# sterna_test(NAME SOURCES ... LINKS ... [LABELS ...]): a GoogleTest program whose cases are ctest's.
include(GoogleTest)

function(sterna_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  if(STERNA_SANITIZE)
    target_precompile_headers(${name} REUSE_FROM sterna_precompiled)
  endif()
  if(STERNA_SANITIZE AND CCACHE)
    # As sloppy as it asks to be where headers are precompiled, or it would not keep what it compiles.
    set_target_properties(${name} PROPERTIES CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros;${CCACHE}")
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} sterna_flags GTest::gtest GTest::gmock
                                        GTest::gtest_main)
  sterna_include_root(tests_root tests)
  target_include_directories(${name} PRIVATE ${tests_root})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}." PROPERTIES
    LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
  # gtest_discover_tests keeps only the first element of a property that is a list, so the
  # environment is set by a file of our own, which ctest reads after the discovered tests.
  set(environment ${CMAKE_CURRENT_BINARY_DIR}/${name}_environment.cmake)
  file(CONFIGURE OUTPUT ${environment} @ONLY CONTENT
"if(@name@_TESTS)
  set_tests_properties(\${@name@_TESTS} PROPERTIES ENVIRONMENT
    \"OMP_WAIT_POLICY=PASSIVE;GOMP_SPINCOUNT=0;STERNA_BINARY=@CMAKE_BINARY_DIR@/sterna;STERNA_SOURCE=@CMAKE_SOURCE_DIR@\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${environment})
endfunction()
