# The libtorch to build against, as the target eureka_libtorch: the system's, or the one in EUREKA_TORCH_DIR.
set(EUREKA_TORCH_DIR "" CACHE PATH "Folder of a libtorch, or the torch folder of a Python wheel; empty: the system's")

if(DEFINED EUREKA_TORCH_CONFIGURED AND NOT EUREKA_TORCH_DIR STREQUAL EUREKA_TORCH_CONFIGURED)
  message(FATAL_ERROR "This build folder is set up for another libtorch, and CMake remembers where its parts are. "
                      "Add --fresh to the cmake command; 'make build TORCH=DIR' does it by itself.")
endif()

add_library(eureka_libtorch INTERFACE)
if(NOT EUREKA_TORCH_DIR)
  find_package(Torch REQUIRED)
  target_include_directories(eureka_libtorch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(eureka_libtorch INTERFACE ${TORCH_LIBRARIES})
else()
  # Not by its TorchConfig.cmake: that of a CUDA build stops without the CUDA toolkit, which we can do without.
  foreach(file include/ATen/ATen.h lib/libtorch.so lib/libtorch_cpu.so lib/libc10.so)
    if(NOT EXISTS ${EUREKA_TORCH_DIR}/${file})
      message(FATAL_ERROR "${EUREKA_TORCH_DIR} is no libtorch: it has no ${file}.")
    endif()
  endforeach()
  file(STRINGS ${EUREKA_TORCH_DIR}/lib/libc10.so new_abi REGEX "_ZN3c106DeviceC1ERKNSt7__cxx11" LIMIT_COUNT 1)
  if(NOT new_abi)
    message(FATAL_ERROR "The libtorch in ${EUREKA_TORCH_DIR} was built with the old ABI of std::string. "
                        "Take the download marked 'cxx11 ABI', or release 2.7 or later.")
  endif()

  # It carries an fmt of its own, other than the one we link: ours comes first.
  find_path(FMT_HEADERS fmt/format.h REQUIRED)
  set(before_torch ${CMAKE_BINARY_DIR}/before-torch)
  file(MAKE_DIRECTORY ${before_torch})
  file(CREATE_LINK ${FMT_HEADERS}/fmt ${before_torch}/fmt SYMBOLIC)
  target_include_directories(eureka_libtorch SYSTEM INTERFACE ${before_torch} ${EUREKA_TORCH_DIR}/include
                                                              ${EUREKA_TORCH_DIR}/include/torch/csrc/api/include)
  foreach(name torch torch_cpu c10)
    add_library(libtorch::${name} SHARED IMPORTED)
    set_target_properties(libtorch::${name} PROPERTIES IMPORTED_LOCATION ${EUREKA_TORCH_DIR}/lib/lib${name}.so)
    target_link_libraries(eureka_libtorch INTERFACE libtorch::${name})
  endforeach()
  # libtorch.so only pulls in the libraries of the devices, which register themselves. A machine that builds may lack
  # what those need in turn.
  target_link_options(eureka_libtorch INTERFACE LINKER:--no-as-needed LINKER:--allow-shlib-undefined)
  message(STATUS "libtorch: ${EUREKA_TORCH_DIR}")
endif()
set(EUREKA_TORCH_CONFIGURED "${EUREKA_TORCH_DIR}" CACHE INTERNAL "the libtorch that this build folder is set up for")

# Several processes meet through c10d's backends, whose headers want those of Gloo itself, of the release that libtorch
# was built with, which Debian has and wheels lack; or of NCCL and CUDA.
function(eureka_try_backend result name includes)
  if(DEFINED ${result})
    return()
  endif()
  string(TOUPPER ${name} macro)
  string(TOLOWER ${name} folder)
  get_target_property(libtorch_headers eureka_libtorch INTERFACE_INCLUDE_DIRECTORIES)
  file(WRITE ${CMAKE_BINARY_DIR}/${folder}.cpp "#include <ATen/ATen.h>\n#define USE_C10D_${macro}\n"
       "#include <torch/csrc/distributed/c10d/ProcessGroup${name}.hpp>\n"
       "#include <torch/csrc/distributed/c10d/TCPStore.hpp>\nint main() {}\n")
  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
  try_compile(${result} ${CMAKE_BINARY_DIR}/${folder} ${CMAKE_BINARY_DIR}/${folder}.cpp
              CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${libtorch_headers};${includes}" CXX_STANDARD 20)
endfunction()

find_path(EUREKA_GLOO_HEADERS gloo/rendezvous/store.h)
if(EUREKA_GLOO_HEADERS)
  eureka_try_backend(EUREKA_GLOO Gloo "")
endif()

# The wheels that a CUDA build needs to run bring headers too, and come before a toolkit.
if(EUREKA_TORCH_DIR AND EXISTS ${EUREKA_TORCH_DIR}/lib/libtorch_cuda.so)
  file(GLOB cuda_wheels ${EUREKA_TORCH_DIR}/../nvidia/*/include)
  find_path(EUREKA_CUDA_TOOLKIT cuda_runtime.h PATHS ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES include)
  find_path(EUREKA_NCCL_HEADERS nccl.h HINTS ${cuda_wheels} ${EUREKA_CUDA_TOOLKIT})
  if(EUREKA_NCCL_HEADERS)
    set(EUREKA_CUDA_INCLUDES ${cuda_wheels} ${EUREKA_NCCL_HEADERS})
    if(EUREKA_CUDA_TOOLKIT)
      list(APPEND EUREKA_CUDA_INCLUDES ${EUREKA_CUDA_TOOLKIT})
    endif()
    list(REMOVE_DUPLICATES EUREKA_CUDA_INCLUDES)
    eureka_try_backend(EUREKA_NCCL NCCL "${EUREKA_CUDA_INCLUDES}")
  endif()
  if(EUREKA_NCCL)
    foreach(name torch_cuda c10_cuda)
      add_library(libtorch::${name} SHARED IMPORTED GLOBAL)
      set_target_properties(libtorch::${name} PROPERTIES IMPORTED_LOCATION ${EUREKA_TORCH_DIR}/lib/lib${name}.so)
    endforeach()
  else()
    message(STATUS "NCCL: not used, for nccl.h or a header of CUDA that c10d includes is missing (docs/ranks.md)")
  endif()
endif()
