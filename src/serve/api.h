// What the server answers, request by request, without a word of HTTP: docs/serve.md has the list.
//
//   Api api(tree, index, catalog);
//   api.answer(*parse_request_target("/api/run?id=a"))        throws Refusal, and Error for what cannot be read
#pragma once

#include <list>
#include <mutex>

#include "report/page.h"
#include "serve/answer_cache.h"
#include "serve/long_metrics.h"
#include "serve/request_target.h"
#include "serve/run_index.h"
#include "train/catalog.h"

namespace eureka::serve {

class Api {
 public:
  Api(const ServedTree& tree, RunIndex& index, const Catalog& catalog);

  Answer answer(const RequestTarget& target);

 private:
  using Snapshot = std::shared_ptr<const IndexSnapshot>;
  // One entry as it stands, with what is behind it.
  struct Asked {
    Snapshot index;
    const IndexEntry* entry;
    std::uint64_t version;  // of the entry and, for a study, of its runs
  };
  Asked asked(const RequestTarget& target);
  std::uint64_t version_of(const IndexSnapshot& index, const IndexEntry& entry) const;

  Answer index_answer(const RequestTarget& target);
  Answer run_answer(const Asked& asked);
  Answer series_answer(const Asked& asked, const RequestTarget& target);
  Answer group_answer(const Asked& asked, const RequestTarget& target);
  Answer study_answer(const Asked& asked);
  Answer figure_answer(const Asked& asked, const RequestTarget& target);
  Answer report_answer(const Asked& asked);

  // From metrics.jsonl of a run, however long it is.
  Series series_of(const IndexEntry& run, SeriesQuery query);
  std::vector<std::string> columns_of(const IndexEntry& run);
  // Of a file that is too long to be read each time.
  struct LongFile {
    std::mutex mutex;
    LongMetrics metrics;
  };
  std::shared_ptr<LongFile> long_file(const std::string& id);

  // For readers that go by paths. Throws Refusal where a link would lead them out.
  fs::path readable_path(const Asked& asked) const;
  std::shared_ptr<const std::vector<PageSection>> sections_of(const Asked& asked);

  const ServedTree& tree_;
  RunIndex& index_;
  const Catalog& catalog_;
  AnswerCache quick_, slow_;  // apart, so that nothing quick waits for something slow

  std::mutex mutex_;  // of what follows
  std::list<std::pair<std::string, std::shared_ptr<LongFile>>> long_files_;
  struct KeptSections {
    std::string id;
    std::uint64_t version = 0;
    std::shared_ptr<const std::vector<PageSection>> sections;
  };
  std::list<KeptSections> sections_;
};

}  // namespace eureka::serve
