// Records an application on CANN on a server over SSH. For the verb collect.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "board/ssh_host.hpp"
#include "collect/collector.hpp"
#include "msprof/board_options.hpp"
#include "msprof/cann_collection.hpp"
#include "msprof/collection.hpp"
#include "msprof/verbs.hpp"

namespace msprof {

// Adds the options that apply to servers but not to boards.
BoardRunOptions server_options(const BoardRunOptions& options, const BoardArguments& arguments,
                               bool all);

// Runs the application on `host`, which must have server_options(). `options` contains everything
// that is independent of CANN. Fills `document` with all known facts, even if it throws an Error.
Exit collect_cann_on_server(SshHost& host, const CannRequest& request,
                            const BoardArguments& arguments, CollectOptions options,
                            const CollectionPlan& plan, nlohmann::ordered_json& document);

}  // namespace msprof
