# What `make install` puts where, and the Debian packages of `make package`.
#
#   bin/eureka, its manual pages, its completions       package eureka: complete but for the reference engine and GPUs
#   lib/libeureka_torch.so                              package eureka-torch: those
#
# The program looks for the library beside itself and in ../lib.
include(GNUInstallDirs)
install(TARGETS eureka RUNTIME DESTINATION bin COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/eureka RENAME copyright COMPONENT program)
install(FILES ${CMAKE_SOURCE_DIR}/README.md DESTINATION share/doc/eureka COMPONENT program)
if(NOT CMAKE_CROSSCOMPILING)
  # Pages and completions are what the program itself declares.
  install(CODE "set(EUREKA_PROGRAM \"$<TARGET_FILE:eureka>\")" COMPONENT program)
  install(SCRIPT ${CMAKE_SOURCE_DIR}/cmake/InstallDeclared.cmake COMPONENT program)
endif()
if(EUREKA_TORCH)
  install(TARGETS eureka_torch LIBRARY DESTINATION lib COMPONENT torch)
  install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/doc/eureka-torch RENAME copyright COMPONENT torch)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME eureka)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "laboratory for the sudden learning of transformers")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
if(EUREKA_TORCH)
  list(APPEND CPACK_COMPONENTS_ALL torch)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Eureka developers <eureka@localhost>")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME eureka)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "eureka-torch (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
    "Trains transformers on tasks with a hidden step, detects the moment at which
they learn it, and compares cures over many seeds. The fused engine on the CPU;
the reference engine on libtorch, and GPUs, come with eureka-torch.")
set(CPACK_DEBIAN_TORCH_PACKAGE_NAME eureka-torch)
set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "eureka (= ${PROJECT_VERSION}), libopenblas0-openmp")
set(CPACK_COMPONENT_TORCH_DESCRIPTION "The reference engine of eureka, on libtorch: any model, any rule, GPUs.")
include(CPack)
