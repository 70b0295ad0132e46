#include "import/cann/cann_import.hpp"
#include "import/cann/join/device_first_pass.hpp"
#include "import/cann/join/host_tasks.hpp"
#include "import/cann/join/join.hpp"
#include "import/old/classic_import.hpp"
#include "import/old/old_import.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof {

namespace {

KindSet svp_kinds(const SvpSession& session) {
  auto models = std::make_shared<svp::SvpModels>(session);
  KindSet set;
  set.shared = models;
#define KIND(name) set.kinds.push_back(svp::make_##name##_kind(*models));
#include "import/svp/kinds.def"
#undef KIND
  return set;
}

void add_cann5_kinds(cann::CannImport& import, KindSet& set) {
  import.cann5 = std::make_shared<old::HostData>();
#define KIND(name) set.kinds.push_back(old::make_##name##_kind(import));
#include "import/old/kinds.def"
#undef KIND
}

void add_classic_kinds(cann::CannImport& import, KindSet& set) {
#define KIND(name) set.kinds.push_back(old::make_##name##_kind(import));
#include "import/old/classic_kinds.def"
#undef KIND
}

KindSet cann_kinds(const CannSession& session) {
  auto import = std::make_shared<cann::CannImport>(session);
  KindSet set;
  set.shared = import;
  if (session.is_old()) import->classic = std::make_shared<old::ClassicData>();
  if (session.is_classic()) {
    add_classic_kinds(*import, set);
  } else if (session.is_old()) {
    // The first PROF folders contain these kinds too, but their text files hold binary records.
    set.kinds.push_back(old::make_training_trace_kind(*import));
    set.kinds.push_back(old::make_runtime_launch_kind(*import));
  }
  if (session.is_old()) add_cann5_kinds(*import, set);
#define KIND(name) set.kinds.push_back(cann::make_##name##_kind(*import));
#include "import/cann/kinds.def"
#undef KIND
  for (auto& kind : cann::make_host_stream_kinds(*import)) set.kinds.push_back(std::move(kind));
  for (auto& kind : cann::make_device_stream_kinds(*import)) set.kinds.push_back(std::move(kind));
  set.join = [import](const ImportContext& context) {
    cann::write_devices(*import, context);
    if (import->session.is_old()) return old::join(*import, context);
    HostTaskStore tasks(context.work_folder, import->session.has_unique_task_ids());
    // Starts with the host, whose records are needed first.
    cann::begin_host(*import);
    auto first_passes = cann::begin_devices(*import);
    cann::join_host(*import, context, tasks);
    cann::join_devices(*import, context, tasks, std::move(first_passes));
  };
  return set;
}

}  // namespace

KindSet builtin_kinds(const Session& session) {
  // The dialect is the session's dynamic type; Session::open() creates only these two.
  if (const auto* cann = dynamic_cast<const CannSession*>(&session)) return cann_kinds(*cann);
  return svp_kinds(dynamic_cast<const SvpSession&>(session));
}

}  // namespace msprof
