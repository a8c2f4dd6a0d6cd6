// Errors a person can act on: what happened, where, and what to do about it.
//
//   throw Error(ErrorKind::config, "unknown key 'train.stepz'", "two-step.toml:14:1", "did you mean 'train.steps'?");
//
// prints as
//
//   eureka: two-step.toml:14:1: unknown key 'train.stepz'
//     did you mean 'train.steps'?
//
// Error is for what the user can mend. EUREKA_CHECK is for our own bugs. Expected numerical outcomes (a run that
// diverged) are status values, never exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace eureka {

enum class ErrorKind {
  usage,   // the command line
  config,  // a configuration file or override
  input,   // a file we were asked to read: log, dataset, checkpoint
  output,  // where we were asked to write: cannot be used at all
  failed,  // the work itself failed: disk full, device lost
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what, std::string where = {}, std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& where() const { return where_; }
  const std::string& hint() const { return hint_; }

  // "where: what\n  hint", with the parts that are there, each made printable.
  std::string message() const;

  // 2 for bad usage, configuration, input or output place; 1 for work that failed.
  int exit_code() const { return kind_ == ErrorKind::failed ? 1 : 2; }

 private:
  ErrorKind kind_;
  std::string where_;
  std::string hint_;
};

// A broken promise inside Eureka itself; the command line reports it as a bug (exit code 70).
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void fail_check(const char* condition, const char* file, int line, const std::string& message);

}  // namespace eureka

#define EUREKA_CHECK(condition, message)                                             \
  do {                                                                               \
    if (!(condition)) ::eureka::fail_check(#condition, __FILE__, __LINE__, message); \
  } while (false)
