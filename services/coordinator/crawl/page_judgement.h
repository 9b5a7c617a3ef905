// What the crawl makes of a page before the catalog sees it.

#ifndef SERVICES_COORDINATOR_CRAWL_PAGE_JUDGEMENT_H_
#define SERVICES_COORDINATOR_CRAWL_PAGE_JUDGEMENT_H_

#include <string>
#include <vector>

#include "clients/bim360/bim360_client.h"
#include "services/coordinator/catalog/crawl_store.h"
#include "services/coordinator/crawl/path_filter.h"

namespace bimbackup::crawl {

// Why the item's tip has no content, from the types that Autodesk gives;
// empty where it has.
std::string NoContentReason(const bim360::Item& item);

// Applies the filter to one page of the folder at `path`, gives reasons to
// versions without content, and gathers the page's defects.
catalog::ListedPage JudgePage(bim360::FolderPage page,
                              const std::vector<std::string>& path,
                              const PathFilter& filter);

// One line for a page's defects; empty for none.
std::string DescribeDefects(const std::vector<std::string>& defects);

}  // namespace bimbackup::crawl

#endif  // SERVICES_COORDINATOR_CRAWL_PAGE_JUDGEMENT_H_
