// Every file of the corpus through its target, without a fuzzer: what once broke a reader does so no more.
//
//   eureka_fuzz_replay fuzz/corpus             fails by the signal or the exception of the file it names last
#include <fmt/format.h>

#include <cstdio>

#include "base/files.h"
#include "fuzz/targets.h"

namespace {

int replay(const eureka::fs::path& corpus) {
  int without_corpus = 0;
  std::vector<eureka::fuzz::FuzzTarget> targets = eureka::fuzz::format_targets();
  for (const auto& target : eureka::fuzz::directory_targets()) targets.push_back(target);
  for (const auto& target : eureka::fuzz::request_targets()) targets.push_back(target);
  for (const eureka::fuzz::FuzzTarget& target : targets) {
    int files = 0;
    std::error_code failure;
    for (const auto& entry : eureka::fs::directory_iterator(corpus / target.name, failure)) {
      fmt::print("{}\n", entry.path().string());
      std::fflush(stdout);
      target.run(eureka::read_file(entry.path()));
      ++files;
    }
    if (files == 0) fmt::print(stderr, "no corpus for {}\n", target.name);
    without_corpus += files == 0 ? 1 : 0;
  }
  return without_corpus == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: eureka_fuzz_replay CORPUS\n");
    return 2;
  }
  return replay(argv[1]);
}
