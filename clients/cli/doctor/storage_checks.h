// Whether a folder will do as storage.

#ifndef CLIENTS_CLI_DOCTOR_STORAGE_CHECKS_H_
#define CLIENTS_CLI_DOCTOR_STORAGE_CHECKS_H_

#include <string>

#include "clients/cli/doctor/report.h"

namespace bimbackup::cli::doctor {

// Looks at the storage behind `url` ("file:///backup" or an absolute path):
// its marker, its room, and whether rename, hard links, reflinks, file locks
// and fsync work there, in a scratch folder that is removed again.
void CheckStorage(const std::string& url, Report& report);

}  // namespace bimbackup::cli::doctor

#endif  // CLIENTS_CLI_DOCTOR_STORAGE_CHECKS_H_
