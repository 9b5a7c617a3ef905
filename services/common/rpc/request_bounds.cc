#include "services/common/rpc/request_bounds.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "services/common/status_macros.h"

namespace bimbackup::rpc {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

absl::Status Check(const Message& message, const std::string& prefix,
                   const RequestBounds& bounds);

// One field's value, or one element of it where `index` is not negative.
absl::Status CheckValue(const Message& message, const FieldDescriptor& field,
                        int index, const std::string& name,
                        const RequestBounds& bounds) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    const Message& inner =
        index < 0 ? reflection.GetMessage(message, &field)
                  : reflection.GetRepeatedMessage(message, &field, index);
    return Check(inner, absl::StrCat(name, "."), bounds);
  }
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_STRING) {
    return absl::OkStatus();
  }
  std::string scratch;
  const std::string& text =
      index < 0 ? reflection.GetStringReference(message, &field, &scratch)
                : reflection.GetRepeatedStringReference(message, &field, index,
                                                        &scratch);
  if (text.size() <= bounds.max_text_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", text.size(),
                                                 " bytes, over the limit of ",
                                                 bounds.max_text_bytes));
}

absl::Status CheckRepeated(const Message& message, const FieldDescriptor& field,
                           const std::string& name,
                           const RequestBounds& bounds) {
  const int size = message.GetReflection()->FieldSize(message, &field);
  if (size > bounds.max_elements) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": ", size, " entries, over the limit of ", bounds.max_elements));
  }
  for (int i = 0; i < size; ++i) {
    ABSL_RETURN_IF_ERROR(
        CheckValue(message, field, i, absl::StrCat(name, "[", i, "]"), bounds));
  }
  return absl::OkStatus();
}

absl::Status Check(const Message& message, const std::string& prefix,
                   const RequestBounds& bounds) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string name = absl::StrCat(prefix, field->name());
    ABSL_RETURN_IF_ERROR(field->is_repeated()
                             ? CheckRepeated(message, *field, name, bounds)
                             : CheckValue(message, *field, -1, name, bounds));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckRequest(const Message& request, const RequestBounds& bounds) {
  return Check(request, "", bounds);
}

}  // namespace bimbackup::rpc
