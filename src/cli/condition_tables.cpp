// eureka condition tables: measures every table of docs/conditioning.md anew and writes it into its place.
#include <fmt/format.h>

#include "base/files.h"
#include "base/output.h"
#include "cli/condition.h"

namespace eureka::cli {
namespace {

// Puts the table between its two marks. Marks are comments, so a reader does not see them.
void replace_table(std::string& document, const NamedTable& table, const std::string& file) {
  const std::string begin = fmt::format("<!-- table: {} -->\n", table.name), end = "<!-- end -->";
  const std::size_t start = document.find(begin);
  const std::size_t stop = start == std::string::npos ? start : document.find(end, start);
  if (stop == std::string::npos)
    throw Error(ErrorKind::input, fmt::format("there is no place for the table '{}'", table.name), file,
                fmt::format("add the lines '<!-- table: {} -->' and '<!-- end -->'", table.name));
  document.replace(start + begin.size(), stop - start - begin.size(), table.table.markdown());
}

int tables(const std::string& file, int threads) {
  std::string document = read_file(file);
  const auto progress = [](const char* what) { tell("measuring {}\n", what); };
  for (const NamedTable& table : conditioning_tables(threads_or_all(threads), progress))
    replace_table(document, table, file);
  atomic_write(file, document);
  print("{}: all tables measured anew\n", file);
  return kOk;
}

}  // namespace

void add_condition_tables(Command& condition) {
  Command verb =
      condition.add_command("tables", "measures the tables of docs/conditioning.md anew and writes them there");
  auto file = std::make_shared<std::string>("docs/conditioning.md");
  auto threads = std::make_shared<int>(0);
  verb.option("file", *file, "the document").shows_default();
  add_threads_option(verb, *threads);
  verb.runs([=] { return tables(*file, *threads); });
}

}  // namespace eureka::cli
