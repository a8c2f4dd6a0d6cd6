// ResNet-9: four stages of one basic block.
#include "nn/resnet.h"

namespace eureka {
namespace {

class ResNet9 final : public ResNet {
 public:
  explicit ResNet9(const ResNetOptions& options) : ResNet(options, 1) {}
};

EUREKA_MODEL("resnet9", ResNet9, ResNetOptions, "convolutional baseline on images: four stages of one basic block");

}  // namespace
}  // namespace eureka
