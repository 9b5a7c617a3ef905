// What the coordinator's HTTP side shows. Nothing secret.

#ifndef SERVICES_COORDINATOR_PAGES_H_
#define SERVICES_COORDINATOR_PAGES_H_

#include <string>

#include "clients/bim360/api_limiter.h"
#include "services/coordinator/backup/backup_runner.h"
#include "services/coordinator/lease/lease_pool.h"

namespace bimbackup::coordinator {

// All in Prometheus' text format: API calls and waits by endpoint class,
// transfers, bytes, leases, workers, crawl and state of the newest backup.
std::string MakeMetrics(backup::BackupRunner& runner,
                        const lease::LeasePool& pool,
                        const bim360::ApiLimiter& limiter);

// One HTML page for people.
std::string MakeStatusPage(backup::BackupRunner& runner,
                           const lease::LeasePool& pool);

}  // namespace bimbackup::coordinator

#endif  // SERVICES_COORDINATOR_PAGES_H_
