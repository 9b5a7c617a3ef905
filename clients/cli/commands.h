// The subcommands of `bimbackup`, but for `doctor` and `scan`.

#ifndef CLIENTS_CLI_COMMANDS_H_
#define CLIENTS_CLI_COMMANDS_H_

#include "clients/cli/command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup::cli {

// Each adds its subcommands to `app`; parsing sets `chosen` to the one that
// the user asked for. Both outlive the parse.

// `backup` and `watch`.
void AddBackupCommand(CLI::App& app, CommandAction& chosen);
void AddWatchCommand(CLI::App& app, CommandAction& chosen);

// `list`, `show`, `failures` and `cancel`.
void AddRecordCommands(CLI::App& app, CommandAction& chosen);

// `workers`.
void AddWorkersCommand(CLI::App& app, CommandAction& chosen);

// `snapshots` and `ls`.
void AddSnapshotCommands(CLI::App& app, CommandAction& chosen);

// `accept`: deletions that are meant, folders that stay forbidden.
void AddAcceptCommand(CLI::App& app, CommandAction& chosen);

// `rebuild-latest`.
void AddRebuildLatestCommand(CLI::App& app, CommandAction& chosen);

// `limits`: API budget and bandwidth.
void AddLimitsCommand(CLI::App& app, CommandAction& chosen);

// `health`: what a server says of itself, for health checks of containers.
void AddHealthCommand(CLI::App& app, CommandAction& chosen);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_COMMANDS_H_
