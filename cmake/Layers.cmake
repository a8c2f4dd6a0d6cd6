# One folder, one target: eureka_<folder>, made of every .cpp in it.
#
#   eureka_layer(io DEPENDS eureka_base LIBRARIES fmt::fmt)            a static library
#   eureka_layer(lab TEXT DEPENDS eureka_train)                        its own code takes no time worth optimizing
#   eureka_layer(base PLAIN)                                           with options of its own: no shared precompiled header
#   eureka_layer(tasks PLUGINS DEPENDS eureka_base)                    an object library: a static one would drop
#                                                                      files that only register themselves
function(eureka_layer name)
  cmake_parse_arguments(ARG "PLUGINS;TEXT;PLAIN" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(ARG_PLUGINS)
    add_library(eureka_${name} OBJECT ${sources})
  else()
    add_library(eureka_${name} STATIC ${sources})
  endif()
  target_include_directories(eureka_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(eureka_${name} PRIVATE eureka_flags PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES})
  if(ARG_TEXT)
    eureka_text_target(eureka_${name})
  elseif(NOT ARG_PLAIN)
    target_precompile_headers(eureka_${name} REUSE_FROM eureka_headers)
  endif()
endfunction()

function(eureka_text_target target)
  target_compile_options(${target} PRIVATE ${EUREKA_TEXT_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM eureka_text_headers)
endfunction()

# tests/<folder>/*_test.cpp become one program, each test its own CTest entry. Files named *_slow_test.cpp are left out of
# `make test` by their label.
#
#   eureka_tests(io LABEL unit LIBRARIES eureka_io)
#   eureka_tests(nn LABEL unit LIBRARIES eureka_torch WHOLE)       one entry for all: loading torch for each costs more than the test
# Where the start of a process is dear (EUREKA_SHARDS), a program's tests are that many entries, each with its share of them.
#
#   eureka_tests(engine ... EVERY_SET "*")                         and those that fit the pattern once more with each instruction
#                                                                  set; a set the machine has not is skipped
function(eureka_tests name)
  cmake_parse_arguments(ARG "WHOLE;OWN_HEADERS" "LABEL;TIMEOUT;EVERY_SET" "LIBRARIES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * ${EUREKA_PATIENCE}")
  math(EXPR whole_timeout "600 * ${EUREKA_PATIENCE}")
  math(EXPR discovery_timeout "60 * ${EUREKA_PATIENCE}")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_test.cpp)
  file(GLOB slow CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*_slow_test.cpp)
  list(REMOVE_ITEM sources ${slow} "")
  foreach(kind sources slow)
    # No gate that runs sanitizers runs the slow ones.
    if(NOT ${kind} OR ("${kind}" STREQUAL "slow" AND EUREKA_SANITIZE))
      continue()
    endif()
    set(target eureka_${name}_tests)
    set(label ${ARG_LABEL})
    if("${kind}" STREQUAL "slow")
      set(target eureka_${name}_slow_tests)
      set(label slow)
    endif()
    add_executable(${target} ${${kind}})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_link_libraries(${target} PRIVATE eureka_flags ${ARG_LIBRARIES} GTest::gmock)
    # The time goes into the libraries.
    target_compile_options(${target} PRIVATE ${EUREKA_TEST_OPTIONS} $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
    if(NOT ARG_OWN_HEADERS)
      target_precompile_headers(${target} REUSE_FROM eureka_test_headers)
    endif()
    if(ARG_EVERY_SET)
      target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/main.cpp)
      foreach(set ${EUREKA_INSTRUCTION_SETS})
        add_test(NAME ${target}.${set} COMMAND ${target} --gtest_filter=${ARG_EVERY_SET})
        set_tests_properties(${target}.${set} PROPERTIES LABELS ${label} TIMEOUT ${whole_timeout} SKIP_RETURN_CODE 77
                                                         ENVIRONMENT EUREKA_INSTRUCTIONS=${set})
      endforeach()
    else()
      target_link_libraries(${target} PRIVATE GTest::gtest_main)
    endif()
    if(ARG_WHOLE)
      add_test(NAME ${target} COMMAND ${target})
      set_tests_properties(${target} PROPERTIES LABELS ${label} TIMEOUT ${whole_timeout})
    elseif(EUREKA_SHARDS)
      math(EXPR last "${EUREKA_SHARDS} - 1")
      foreach(shard RANGE ${last})
        add_test(NAME ${target}.${shard} COMMAND ${target} --gtest_brief=1)
        set_tests_properties(${target}.${shard} PROPERTIES LABELS ${label} TIMEOUT ${whole_timeout}
                             ENVIRONMENT "GTEST_TOTAL_SHARDS=${EUREKA_SHARDS};GTEST_SHARD_INDEX=${shard}")
      endforeach()
    else()
      gtest_discover_tests(${target} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT ${discovery_timeout}
                           PROPERTIES LABELS ${label} TIMEOUT ${ARG_TIMEOUT})
    endif()
  endforeach()
endfunction()
