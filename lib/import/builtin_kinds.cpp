#include "import/cann/cann_kinds.hpp"
#include "import/cann/join/host_tasks.hpp"
#include "import/svp/svp_kinds.hpp"

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

using CannKindMaker = std::unique_ptr<RawKind> (*)(cann::CannImport&);

constexpr CannKindMaker kCannKinds[] = {
    // Dictionaries first: the others name things with them.
    cann::make_type_info_kind,
    cann::make_hash_dic_kind,
    cann::make_graph_id_map_kind,
    cann::make_msproftx_kind,
    cann::make_task_memory_info_kind,
    cann::make_logic_stream_info_kind,
    cann::make_mc2_comm_info_kind,
    // Before the records whose stream ids it changes.
    cann::make_expand_stream_spec_kind,
    cann::make_lpm_freq_kind,
    cann::make_ts_track_kind,
    cann::make_aicpu_kind,
    cann::make_data_preprocess_kind,
    cann::make_l2_cache_kind,
};

KindSet cann_kinds(const CannSession& session) {
  auto import = std::make_shared<cann::CannImport>(session);
  KindSet set;
  set.shared = import;
  for (const CannKindMaker make : kCannKinds) set.kinds.push_back(make(*import));
  for (auto& kind : cann::make_host_stream_kinds(*import)) set.kinds.push_back(std::move(kind));
  for (auto& kind : cann::make_device_stream_kinds(*import)) set.kinds.push_back(std::move(kind));
  set.join = [import](const ImportContext& context) {
    cann::write_devices(*import, context);
    HostTaskStore tasks(context.work_folder);
    cann::join_host(*import, context, tasks);
    cann::join_devices(*import, context, tasks);
  };
  return set;
}

}  // namespace

KindSet builtin_kinds(const Session& session) {
  // The dialect is the type; Session::open makes no other session.
  if (const auto* cann = dynamic_cast<const CannSession*>(&session)) return cann_kinds(*cann);
  return svp_kinds(dynamic_cast<const SvpSession&>(session));
}

}  // namespace msprof
