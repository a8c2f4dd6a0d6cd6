#include "io/training_column.h"

#include <gtest/gtest.h>

namespace eureka {
namespace {

using Names = std::vector<std::string>;

TEST(TrainingColumn, IsTheOtherSideOfAValidationColumn) {
  EXPECT_EQ(training_column_of("val_accuracy", Names{"lr", "train_accuracy", "val_accuracy"}), "train_accuracy");
  EXPECT_EQ(training_column_of("val_accuracy", Names{"accuracy", "loss", "val_accuracy"}), "accuracy");  // Keras
  EXPECT_EQ(training_column_of("eval_loss", Names{"loss", "eval_loss"}), "loss");                        // Hugging Face
  EXPECT_EQ(training_column_of("Validation error", Names{"Validation error", "Training error"}), "Training error");
  EXPECT_EQ(training_column_of("acc/test", Names{"acc/test", "acc/train"}), "acc/train");
}

TEST(TrainingColumn, IsNotGuessedWhereNoNameTells) {
  EXPECT_FALSE(training_column_of("val_accuracy", Names{"val_accuracy", "train_loss"}));
  EXPECT_FALSE(training_column_of("loss", Names{"loss", "train_loss"}));
  EXPECT_FALSE(training_column_of("value", Names{"value", "ue", "train"}));
}

}  // namespace
}  // namespace eureka
