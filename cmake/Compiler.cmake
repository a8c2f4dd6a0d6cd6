# Warnings, arithmetic, sanitizers and ccache, in one interface target that every target of ours links.
add_library(eureka_flags INTERFACE)
target_compile_options(eureka_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                               -Wno-missing-field-initializers -Werror)
# Multiplications and additions are joined where the code says so, and nowhere else: compilers join them where FMA is at
# hand, GCC by default.
target_compile_options(eureka_flags INTERFACE -ffp-contract=off)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  # Highway turns these on by pragma, which constructors the compiler writes itself do not see: they could not inline its own.
  target_compile_options(eureka_flags INTERFACE -march=armv8-a+crypto)
endif()
target_compile_definitions(eureka_flags INTERFACE FMT_ENFORCE_COMPILE_STRING=0)
if(EUREKA_SANITIZE)
  target_compile_options(eureka_flags INTERFACE -fsanitize=${EUREKA_SANITIZE} -fno-sanitize-recover=undefined
                                                -fno-omit-frame-pointer)
  target_link_options(eureka_flags INTERFACE -fsanitize=${EUREKA_SANITIZE})
  # With their checks in between, GCC 12 takes some bounds of fmt's for crossed and moved variants for unset; without, it does not.
  target_compile_options(eureka_flags INTERFACE
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-array-bounds -Wno-maybe-uninitialized>)
endif()

# Time limits of tests are for an ordinary build; an emulator takes tens of instructions for one, a sanitizer several.
set(EUREKA_PATIENCE 1)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(EUREKA_PATIENCE 10)
elseif(EUREKA_SANITIZE)
  set(EUREKA_PATIENCE 6)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Precompiled headers need ccache told not to look at their time stamps; paths from the base on let clones share what they compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
                                  CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
endif()

# Programs are compiled like libraries, so that both can share a precompiled header.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE ${CMAKE_CXX_COMPILE_OPTIONS_PIC})

# Parsed once and not in every file: headers of others that most files include. Ours are not among them, since a change of
# one would compile everything anew. Whether every file includes what it needs is seen by `make clang`, which has no
# precompiled headers.
#
#   eureka_precompiled(eureka_headers LIBRARIES fmt::fmt HEADERS <vector> <fmt/format.h>)
#   target_precompile_headers(eureka_io REUSE_FROM eureka_headers)         needs the same options for the compiler
function(eureka_precompiled name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;OPTIONS;HEADERS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/${name}.cpp CONTENT "")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/generated/${name}.cpp)
  target_link_libraries(${name} PRIVATE eureka_flags ${ARG_LIBRARIES})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

set(EUREKA_COMMON_HEADERS <algorithm> <array> <chrono> <cmath> <filesystem> <fstream> <functional> <map> <memory> <optional>
                          <span> <string> <string_view> <variant> <vector> <fmt/format.h> <fmt/ranges.h>)
# For code that reads, plans and prints, and for tests: optimizing it costs more than it saves. GCC 12 then warns of
# strings that are well within their bounds.
set(EUREKA_TEXT_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O1> -Wno-array-bounds)
# Of tests, which under a sanitizer take longer to compile than to run. What these three say of a pointer, the address sanitizer says when it is used.
set(EUREKA_TEST_OPTIONS ${EUREKA_TEXT_OPTIONS})
if(EUREKA_SANITIZE MATCHES "undefined")
  list(APPEND EUREKA_TEST_OPTIONS -fno-sanitize=null,pointer-overflow,object-size)
endif()
