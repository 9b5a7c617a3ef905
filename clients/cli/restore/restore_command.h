// `bimbackup restore`.

#ifndef CLIENTS_CLI_RESTORE_RESTORE_COMMAND_H_
#define CLIENTS_CLI_RESTORE_RESTORE_COMMAND_H_

#include "clients/cli/command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup::cli {

// Adds the subcommand to `app`; parsing sets `chosen` where the user asked for
// it. Both outlive the parse.
void AddRestoreCommand(CLI::App& app, CommandAction& chosen);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_RESTORE_RESTORE_COMMAND_H_
