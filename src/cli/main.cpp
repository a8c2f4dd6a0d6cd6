// eureka: a laboratory for the sudden learning of transformers.
#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/error.h"
#include "base/output.h"
#include "cli/cli.h"
#include "kernels/instruction_set.h"

namespace eureka::cli {
namespace {

int run(int argc, char** argv) {
  CommandLine line("eureka",
                   "Eureka: train transformers on multi-step tasks, detect their Eureka-moments, compare cures.",
                   EUREKA_VERSION);
  Command& program = line.program();
  add_train(program);
  add_study(program);
  add_trial(program);
  add_branch(program);
  add_show(program);
  add_compare(program);
  add_diagnose(program);
  add_look(program);
  add_detect(program);
  add_condition(program);
  add_list(program);
  add_bench(program);
  add_doctor(program);
  add_data(program);
  add_report(program);
  add_serve(program);
  add_completion(program, line);
  const std::optional<Action> action = line.parse(argc, argv);
  if (!action) return kOk;
  choose_instruction_set_from_environment();
  return (*action)();
}

}  // namespace
}  // namespace eureka::cli

int main(int argc, char** argv) {
  using namespace eureka;
  // A file that may not grow further (ulimit -f) is an error of the write that says so, not a death without a word.
  ::signal(SIGXFSZ, SIG_IGN);
  open_standard_streams();
  try {
    const int code = cli::run(argc, argv);
    finish_output();
    return code;
  } catch (const Error& error) {
    tell("eureka: {}\n", Lines{error.message()});
    return error.exit_code();
  } catch (const std::filesystem::filesystem_error& error) {
    // A file of the user's that the system does not let us look at: no permission, a loop of links, too long a name.
    const Error told(ErrorKind::input, error.code().message(), error.path1().string());
    tell("eureka: {}\n", Lines{told.message()});
    return told.exit_code();
  } catch (const std::bad_alloc&) {
    tell("eureka: out of memory\n  choose a smaller model or batch, or fewer trials at a time\n");
    return cli::kFailed;
  } catch (const std::exception& error) {
    // What a thread says that cannot begin.
    const auto* system = dynamic_cast<const std::system_error*>(&error);
    if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {
      tell("eureka: too little memory or too many processes to begin a thread (ulimit -v, ulimit -u)\n");
      return cli::kFailed;
    }
    tell("eureka: internal error: {}\n  this is a bug in eureka, not in what you did: please report it\n",
         error.what());
    return cli::kInternal;
  }
}
