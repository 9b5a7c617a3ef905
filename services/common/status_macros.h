// The two status macros that Abseil 20220623 does not have yet, under the
// names of later Abseil, so that an upgrade removes this file.

#ifndef SERVICES_COMMON_STATUS_MACROS_H_
#define SERVICES_COMMON_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns from the function with the status of `expr` unless it is OK.
#define ABSL_RETURN_IF_ERROR(expr)                                            \
  do {                                                                        \
    if (absl::Status status_macro_value = (expr); !status_macro_value.ok()) { \
      return status_macro_value;                                              \
    }                                                                         \
  } while (false)

#define BIMBACKUP_STATUS_CONCAT_INNER(a, b) a##b
#define BIMBACKUP_STATUS_CONCAT(a, b) BIMBACKUP_STATUS_CONCAT_INNER(a, b)

#define BIMBACKUP_ASSIGN_OR_RETURN_IMPL(temporary, lhs, expr) \
  auto temporary = (expr);                                    \
  if (!temporary.ok()) {                                      \
    return std::move(temporary).status();                     \
  }                                                           \
  lhs = *std::move(temporary)

// Assigns the value of the StatusOr `expr` to `lhs`, which may be a
// declaration, or returns its status. A `lhs` with commas needs parentheses
// of its own through a type alias.
#define ABSL_ASSIGN_OR_RETURN(lhs, expr) \
  BIMBACKUP_ASSIGN_OR_RETURN_IMPL(       \
      BIMBACKUP_STATUS_CONCAT(status_or_macro_value, __LINE__), lhs, expr)

#endif  // SERVICES_COMMON_STATUS_MACROS_H_
