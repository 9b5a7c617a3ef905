// The subcommand `doctor`: the first thing to run on a real account.

#ifndef CLIENTS_CLI_DOCTOR_DOCTOR_COMMAND_H_
#define CLIENTS_CLI_DOCTOR_DOCTOR_COMMAND_H_

#include "clients/cli/command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup::cli::doctor {

// Adds `doctor` to `app`; parsing sets `chosen` to it when the user asked for
// it. Both outlive the parse.
void AddDoctorCommand(CLI::App& app, CommandAction& chosen);

}  // namespace bimbackup::cli::doctor

#endif  // CLIENTS_CLI_DOCTOR_DOCTOR_COMMAND_H_
