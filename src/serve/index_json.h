// Entries of the index as JSON: what docs/serve.md calls Entry.
#pragma once

#include "io/json.h"
#include "serve/run_index.h"

namespace eureka::serve {

Json entry_json(const IndexEntry& entry, const IndexSnapshot& index);

Json index_json(const IndexSnapshot& index, const ServedTree& tree);

// "running", "finished" or "incomplete".
const char* study_status(const IndexEntry& study);

// A step without ".0"; what is not finite is null.
Json number_json(double value);
Json maybe_json(const std::optional<double>& value);

}  // namespace eureka::serve
