// Marks of the parts of a step: they nest, and every thread has its own.
#include "base/work_part.h"

#include <gtest/gtest.h>

#include <thread>

namespace eureka {
namespace {

TEST(WorkPart, TheOneFromBeforeIsBackAtTheEndOfTheScope) {
  EXPECT_EQ(current_work_part, WorkPart::rest);
  {
    InPart outer(WorkPart::products);
    outer.next(WorkPart::attention);
    {
      InPart inner(WorkPart::weight_gradients);
      EXPECT_EQ(current_work_part, WorkPart::weight_gradients);
      inner.next(WorkPart::loss);
    }
    EXPECT_EQ(current_work_part, WorkPart::attention);
  }
  EXPECT_EQ(current_work_part, WorkPart::rest);
}

TEST(WorkPart, IsOfOneThread) {
  const InPart here(WorkPart::products);
  WorkPart there = WorkPart::products;
  std::thread([&] { there = current_work_part; }).join();
  EXPECT_EQ(there, WorkPart::rest);
}

}  // namespace
}  // namespace eureka
