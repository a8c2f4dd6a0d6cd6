// A server on loopback over a directory of its own.
#pragma once

#include <gtest/gtest.h>

#include "io/json.h"
#include "serve/server.h"
#include "support/drawn_study.h"
#include "support/http_client.h"
#include "support/temporary_directory.h"

namespace eureka {

class ServedDirectory : public testing::Test {
 protected:
  fs::path at(const std::string& name) const { return directory_.path() / name; }

  void start(serve::ServeOptions options = {}) {
    options.directory = directory_.path();
    options.port = 0;
    server_ = std::make_unique<serve::Server>(options, catalog_);
  }
  int port() const { return server_->port(); }
  HttpReply get(const std::string& target, const std::string& more = "") const {
    return http_get(port(), target, more);
  }
  // Of an answer that must be there.
  Json json(const std::string& target) const {
    const HttpReply reply = get(target);
    EXPECT_EQ(reply.status, 200) << target << ": " << reply.body;
    return Json::parse_if_valid(reply.body).value_or(nullptr);
  }
  static void append(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary | std::ios::app) << text;
  }

  TemporaryDirectory directory_;
  Catalog catalog_{"[]"};
  std::unique_ptr<serve::Server> server_;
};

}  // namespace eureka
