#include "cluster/operation_kind.hpp"

#include <array>
#include <string>

#include "base/text.hpp"

namespace msprof::cluster {

namespace {

struct NamedKind {
  std::string_view part;  // part of the operation's name
  OperationKind kind;
};

// The first match is used, so "reducescatter" must precede "reduce" and "scatter".
constexpr auto kNamedKinds = std::to_array<NamedKind>({
    {"send", OperationKind::pair},
    {"recv", OperationKind::pair},
    {"receive", OperationKind::pair},
    {"allreduce", OperationKind::together},
    {"allgather", OperationKind::together},
    {"reducescatter", OperationKind::together},
    {"alltoall", OperationKind::together},
    {"barrier", OperationKind::together},
    {"broadcast", OperationKind::rooted},
    {"scatter", OperationKind::rooted},
    {"gather", OperationKind::rooted},
    {"reduce", OperationKind::rooted},
});

}  // namespace

OperationKind operation_kind(std::string_view operation) {
  std::string letters = lower_ascii(operation);
  std::erase(letters, '_');
  for (const NamedKind& named : kNamedKinds)
    if (letters.find(named.part) != std::string::npos) return named.kind;
  return OperationKind::unknown;
}

}  // namespace msprof::cluster
