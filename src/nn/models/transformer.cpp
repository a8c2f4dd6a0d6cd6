// An encoder: the cls token looks at all tokens and answers once.
#include "nn/transformer.h"

namespace eureka {
namespace {

class Encoder final : public Transformer {
 public:
  explicit Encoder(const TransformerOptions& options) : Transformer(TransformerKind::encoder, options, 0) {}
};

EUREKA_MODEL("transformer", Encoder, TransformerOptions, "pre-LayerNorm encoder with a cls token");

}  // namespace
}  // namespace eureka
