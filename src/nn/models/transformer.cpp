// An encoder: the cls token looks at all tokens and answers once.
#include "nn/transformer.h"
#include "engine/fused_models.h"

namespace eureka {
namespace {

class Encoder final : public Transformer {
 public:
  explicit Encoder(const TransformerOptions& options) : Transformer(TransformerKind::encoder, options, 0) {}
};

EUREKA_MODEL("transformer", Encoder, TransformerOptions, fused_model_description("transformer"));

}  // namespace
}  // namespace eureka
