// ResNet-18: four stages of two basic blocks.
#include "engine/fused_models.h"
#include "nn/resnet.h"

namespace eureka {
namespace {

class ResNet18 final : public ResNet {
 public:
  explicit ResNet18(const ResNetOptions& options) : ResNet(options, 2) {}
};

EUREKA_MODEL("resnet18", ResNet18, ResNetOptions, fused_model_description("resnet18"));

}  // namespace
}  // namespace eureka
