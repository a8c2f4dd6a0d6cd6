// ResNet-9: four stages of one basic block.
#include "engine/fused_models.h"
#include "nn/resnet.h"

namespace eureka {
namespace {

class ResNet9 final : public ResNet {
 public:
  explicit ResNet9(const ResNetOptions& options) : ResNet(options, 1) {}
};

EUREKA_MODEL("resnet9", ResNet9, ResNetOptions, fused_model_description("resnet9"));

}  // namespace
}  // namespace eureka
