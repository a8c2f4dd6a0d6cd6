// A causal decoder: language and in-context tasks, a loss at every position.
#include "engine/fused_models.h"
#include "nn/transformer.h"

namespace eureka {
namespace {

class Decoder final : public Transformer {
 public:
  explicit Decoder(const TransformerOptions& options) : Transformer(TransformerKind::decoder, options, 0) {}
};

EUREKA_MODEL("decoder", Decoder, TransformerOptions, fused_model_description("decoder"));

}  // namespace
}  // namespace eureka
