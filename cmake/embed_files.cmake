# Writes OUTPUT: a C++ file that holds the text of FILES (a list) as raw string literals.
set(code "#include \"base/embedded.h\"\n\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\nusing namespace std::string_view_literals;\n\nnamespace eureka::${NAMESPACE} {\nnamespace {\nconstexpr EmbeddedFile kFiles[] = {\n")
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  # Compilers limit one literal to 64 KiB: cut at 8,000 characters, adjacent literals are joined again.
  string(LENGTH "${text}" length)
  string(APPEND code "    {\"${name}\",\n")
  set(position 0)
  while(position LESS length)
    string(SUBSTRING "${text}" ${position} 8000 piece)
    string(APPEND code "R\"EUREKA_TEXT(${piece})EUREKA_TEXT\"\n")
    math(EXPR position "${position} + 8000")
  endwhile()
  # With its length known: clang gives up counting a long one at compile time.
  string(APPEND code "    \"\"sv},\n")
endforeach()
string(APPEND code "};\n}  // namespace\n\nstd::span<const EmbeddedFile> files() { return kFiles; }\n}  // namespace eureka::${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${code}")
