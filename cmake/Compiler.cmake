# Warnings, arithmetic, sanitizers and ccache, in one interface target that every target of ours links.
add_library(eureka_flags INTERFACE)
target_compile_options(eureka_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                                               -Wno-missing-field-initializers -Werror)
# Multiplications and additions are joined where the code says so, and nowhere else: compilers join them where FMA is at
# hand, GCC by default.
target_compile_options(eureka_flags INTERFACE -ffp-contract=off)
target_compile_definitions(eureka_flags INTERFACE FMT_ENFORCE_COMPILE_STRING=0)
if(EUREKA_SANITIZE)
  target_compile_options(eureka_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                -fno-omit-frame-pointer)
  target_link_options(eureka_flags INTERFACE -fsanitize=address,undefined)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Precompiled headers need ccache told not to look at their time stamps.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
                                  ${CCACHE_PROGRAM})
  set(CMAKE_PCH_INSTANTIATE_TEMPLATES ON)
endif()
