// What kind of communication an operation is, by its name ("hcom_allReduce_"). For the alignment of
// clocks, for slow ranks and for products that tell pairs from collectives.
#pragma once

#include <string_view>

namespace msprof::cluster {

enum class OperationKind {
  together,  // no rank can end before the last has arrived: allReduce, allGather, reduceScatter, …
  rooted,    // one rank gives or takes, and may end before others arrive: broadcast, reduce, …
  pair,      // from one rank to another: send, receive, batchSendRecv
  unknown
};

// Regardless of the case of letters and of underscores.
OperationKind operation_kind(std::string_view operation);

}  // namespace msprof::cluster
