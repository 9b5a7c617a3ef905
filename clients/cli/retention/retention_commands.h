// `bimbackup forget` and `bimbackup protect`.

#ifndef CLIENTS_CLI_RETENTION_RETENTION_COMMANDS_H_
#define CLIENTS_CLI_RETENTION_RETENTION_COMMANDS_H_

#include "clients/cli/command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup::cli {

// Each adds its subcommand to `app`; parsing sets `chosen` to the one that the
// user asked for. Both outlive the parse.
void AddForgetCommand(CLI::App& app, CommandAction& chosen);
void AddProtectCommand(CLI::App& app, CommandAction& chosen);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_RETENTION_RETENTION_COMMANDS_H_
