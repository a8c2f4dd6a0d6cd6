// Readers of the layers below go by paths and would follow what lies there: before they are asked, a run or a study is
// looked through for what would lead them out of the tree. (Where the kernel confines the program, see confine.h, it
// would refuse them too.)
#pragma once

#include "serve/run_index.h"
#include "serve/served_tree.h"

namespace eureka::serve {

// Throws Refusal (404) that names what does: a link, or a study whose base or branch lies elsewhere.
void refuse_ways_out(const ServedTree& tree, const IndexEntry& entry);

}  // namespace eureka::serve
