#include "import/kinds/svp/svp_kinds.hpp"

namespace msprof {

namespace {

KindSet svp_kinds(const SvpSession& session) {
  auto models = std::make_shared<svp::SvpModels>(session);
  KindSet set;
  set.shared = models;
  // Info files first: the data kinds name layers and compute times with them.
  set.kinds.push_back(svp::make_info_json_kind(*models, session));
  set.kinds.push_back(svp::make_net_info_kind(*models));
  set.kinds.push_back(svp::make_layer_info_kind(*models));
  set.kinds.push_back(svp::make_aicore_kind(*models));
  set.kinds.push_back(svp::make_aicpu_kind(*models));
  set.kinds.push_back(svp::make_acl_api_kind(*models));
  return set;
}

}  // namespace

KindSet builtin_kinds(const Session& session) {
  // The dialect is the type: Session::open makes no other session yet.
  return svp_kinds(dynamic_cast<const SvpSession&>(session));
}

}  // namespace msprof
