// pawl: every role in the cluster and every command for people is a sub-command of this program.
#include <CLI/CLI.hpp>
#include <csignal>

#include "cli/commands.h"

int main(int argc, char** argv) {
  // A peer that goes away is an error of the write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);

  int exit_code = 0;
  CLI::App app("pawl: a GPU operator for Kubernetes");
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Help for all commands");
  pawl::cli::AddOperator(app, exit_code);
  pawl::cli::AddAgent(app, exit_code);
  pawl::cli::AddScout(app, exit_code);
  pawl::cli::AddNvml(app, exit_code);
  pawl::cli::AddValidate(app, exit_code);
  pawl::cli::AddAdvise(app, exit_code);
  pawl::cli::AddPlan(app, exit_code);
  pawl::cli::AddDiscover(app, exit_code);
  pawl::cli::AddCdi(app, exit_code);
  pawl::cli::AddDoctor(app, exit_code);
  pawl::cli::AddVersion(app, exit_code);

  constexpr int kUsage = 64;  // as sysexits.h has it
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return exit_code;
}
