# eureka_embed(TARGET t NAMESPACE ns FILES f...) compiles the files' text into the target, as
#   namespace eureka::ns { std::span<const EmbeddedFile> files(); }   declared in base/embedded.h
function(eureka_embed)
  cmake_parse_arguments(ARG "" "TARGET;NAMESPACE" "FILES" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${ARG_NAMESPACE}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DNAMESPACE=${ARG_NAMESPACE} "-DFILES=${ARG_FILES}"
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${ARG_FILES} ${CMAKE_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
  target_sources(${ARG_TARGET} PRIVATE ${output})
endfunction()
