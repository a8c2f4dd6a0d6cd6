// An encoder on the patches of an image.
#include "engine/fused_models.h"
#include "nn/transformer.h"

namespace eureka {
namespace {

class Vit final : public Transformer {
 public:
  explicit Vit(const VitOptions& options) : Transformer(TransformerKind::vit, options, options.patch) {}
};

EUREKA_MODEL("vit", Vit, VitOptions, fused_model_description("vit"));

}  // namespace
}  // namespace eureka
