// ResNet-18: four stages of two basic blocks.
#include "nn/resnet.h"

namespace eureka {
namespace {

class ResNet18 final : public ResNet {
 public:
  explicit ResNet18(const ResNetOptions& options) : ResNet(options, 2) {}
};

EUREKA_MODEL("resnet18", ResNet18, ResNetOptions, "convolutional baseline on images: four stages of two basic blocks");

}  // namespace
}  // namespace eureka
