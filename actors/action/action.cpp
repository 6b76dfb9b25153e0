// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/descriptor.hpp>
#include <tertulia/detail/action.hpp>
#include <tertulia/detail/make_descriptor.hpp>
#include <tertulia/uuid.hpp>

#include <utility>

namespace tertulia::detail {

// -- action -------------------------------------------------------------------

action::action(std::shared_ptr<const descriptor> info, run_policy runs)
  : info_(std::move(info)),
    key_(info_->key.empty() ? '~' + make_uuid() : info_->key), runs_(runs) {}

bool action::traced() const noexcept {
  return info_->kind != "bidi-action";
}

const std::string& action::name() const noexcept {
  return info_->name;
}

// -- descriptors --------------------------------------------------------------

namespace {

json schema_from(schema_source* source) {
  schema_builder builder;
  source(builder);
  return builder.finish();
}

} // namespace

std::shared_ptr<const descriptor>
make_descriptor(std::string kind, std::string name, std::string description,
                const action_schemas& schemas) {
  auto result = std::make_shared<descriptor>();
  result->key = '/' + kind + '/' + name;
  result->kind = std::move(kind);
  result->name = std::move(name);
  result->description = std::move(description);
  result->input_schema = schema_from(schemas.input);
  result->output_schema = schema_from(schemas.output);
  result->stream_schema = schema_from(schemas.stream);
  result->init_schema = schema_from(schemas.init);
  return result;
}

std::shared_ptr<const descriptor> without_key(const descriptor& x) {
  auto result = std::make_shared<descriptor>(x);
  result->key.clear();
  return result;
}

} // namespace tertulia::detail
