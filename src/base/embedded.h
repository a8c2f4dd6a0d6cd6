// Files compiled into the program (cmake/Embed.cmake writes the definitions).
#pragma once

#include <span>
#include <string_view>

namespace eureka {

struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

namespace presets {
std::span<const EmbeddedFile> files();
}

// The declarations of the plug-ins that only the torch library has, written by that library at build time, so that
// `list` and the checking of a config need not load torch; their names alone in a build without it.
namespace declarations {
std::span<const EmbeddedFile> files();
}

// src/stats/real_curves/*.tsv, what `eureka detect --self-check` measures with.
namespace real_curve_files {
std::span<const EmbeddedFile> files();
}

// src/data/texts/*.txt, what language tasks learn from when no other text is named.
namespace sample_texts {
std::span<const EmbeddedFile> files();
}

// src/figure/letters.txt, the outlines of letters for pictures.
namespace letter_files {
std::span<const EmbeddedFile> files();
}

// src/report/page.css, how a report looks.
namespace page_style {
std::span<const EmbeddedFile> files();
}

// web/dist, the scripts and styles of interactive pages; there only if they were built (EUREKA_PAGE_BUNDLE).
namespace page_bundle {
std::span<const EmbeddedFile> files();
}

// bench/jax_reference.py and pytorch_reference.py, together what `eureka bench --against-pytorch` runs.
namespace pytorch {
std::span<const EmbeddedFile> files();
}

}  // namespace eureka
