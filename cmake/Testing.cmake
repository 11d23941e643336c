# sterna_test(NAME SOURCES ... LINKS ... [LABELS ...]): a GoogleTest program whose cases are ctest's,
# each in a process of its own; or the whole program is (STERNA_TEST_PROGRAMS), where starting a
# process costs more than most cases, as under the sanitizers.
include(GoogleTest)

function(sterna_test name)
  cmake_parse_arguments(ARG "APART" "TIMEOUT;COST" "SOURCES;LINKS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  sterna_precompile(${name} REUSE_FROM sterna_precompiled)
  if(NOT ARG_APART)
    sterna_compile_together(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} sterna_flags GTest::gtest GTest::gmock
                                        GTest::gtest_main sterna_linked_fast)
  sterna_include_root(tests_root tests)
  target_include_directories(${name} PRIVATE ${tests_root})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(environment_list OMP_WAIT_POLICY=PASSIVE GOMP_SPINCOUNT=0
    STERNA_BINARY=${CMAKE_BINARY_DIR}/sterna STERNA_SOURCE=${CMAKE_SOURCE_DIR})
  if(STERNA_TEST_PROGRAMS)
    math(EXPR timeout "4 * ${ARG_TIMEOUT}")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABELS}"
      ENVIRONMENT "${environment_list}")
    return()
  endif()
  set(properties TIMEOUT ${ARG_TIMEOUT})
  if(ARG_COST)
    list(APPEND properties COST ${ARG_COST})
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}." PROPERTIES ${properties})
  # gtest_discover_tests keeps only the first element of a property that is a list, so labels and
  # environment are set by a file of our own, which ctest reads after the discovered tests.
  set(environment ${CMAKE_CURRENT_BINARY_DIR}/${name}_environment.cmake)
  file(CONFIGURE OUTPUT ${environment} @ONLY CONTENT
"if(@name@_TESTS)
  set_tests_properties(\${@name@_TESTS} PROPERTIES LABELS \"@ARG_LABELS@\" ENVIRONMENT
    \"@environment_list@\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${environment})
endfunction()
