// Classifies communication operations by name ("hcom_allReduce_"). Used for clock alignment, slow
// ranks and products that distinguish point-to-point operations from collectives.
#pragma once

#include <string_view>

namespace msprof::cluster {

enum class OperationKind {
  together,  // no rank can end before the last one arrives: allReduce, allGather, reduceScatter, …
  rooted,    // one root sends or receives and may end before others arrive: broadcast, reduce, …
  pair,      // from one rank to another: send, receive, batchSendRecv
  unknown
};

// Ignores case and underscores.
OperationKind operation_kind(std::string_view operation);

}  // namespace msprof::cluster
