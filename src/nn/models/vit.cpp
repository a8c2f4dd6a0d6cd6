// An encoder on the patches of an image.
#include "nn/transformer.h"

namespace eureka {
namespace {

class Vit final : public Transformer {
 public:
  explicit Vit(const VitOptions& options) : Transformer(TransformerKind::vit, options, options.patch) {}
};

EUREKA_MODEL("vit", Vit, VitOptions, "vision transformer: an image cut into patches, a cls token answers");

}  // namespace
}  // namespace eureka
