// `bimbackup diff`.

#ifndef CLIENTS_CLI_DIFF_DIFF_COMMAND_H_
#define CLIENTS_CLI_DIFF_DIFF_COMMAND_H_

#include "clients/cli/command.h"

namespace CLI {
class App;
}  // namespace CLI

namespace bimbackup::cli {

// Adds `diff` to `app`; parsing sets `chosen` to it where the user asked for
// it. Both outlive the parse.
void AddDiffCommand(CLI::App& app, CommandAction& chosen);

}  // namespace bimbackup::cli

#endif  // CLIENTS_CLI_DIFF_DIFF_COMMAND_H_
