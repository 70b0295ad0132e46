// RunPhase: how far a run on a board has come, and which phase may follow which. Used by SshHost.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

namespace msprof {

enum class RunPhase {
  closed,     // not connected
  connected,  // the board's lock is held; there is no folder of the run
  requested,  // the folder of the run was requested, or will be with the upload
  ready,      // the folder exists
  unfetched,  // the application was started: results may exist only on the board
  detached,   // the same, and the run must continue if this msprof ends
  fetched,    // all results are local
  kept,       // the results could not be fetched and were moved to kept/
  stranded,   // they could not be moved either and stay in the folder of the run
};

// Every phase may also be followed by `closed`.
inline constexpr auto kNextPhases = std::to_array<std::pair<RunPhase, RunPhase>>({
    {RunPhase::closed, RunPhase::connected},
    {RunPhase::closed, RunPhase::requested},  // together with the lock
    {RunPhase::connected, RunPhase::requested},
    {RunPhase::connected, RunPhase::unfetched},  // an earlier run
    {RunPhase::requested, RunPhase::ready},
    {RunPhase::ready, RunPhase::unfetched},
    {RunPhase::unfetched, RunPhase::detached},
    {RunPhase::detached, RunPhase::unfetched},  // its results are being fetched
    {RunPhase::unfetched, RunPhase::fetched},
    {RunPhase::unfetched, RunPhase::kept},
    {RunPhase::unfetched, RunPhase::stranded},
    {RunPhase::fetched, RunPhase::kept},
    {RunPhase::fetched, RunPhase::stranded},
});

constexpr bool may_follow(RunPhase from, RunPhase to) {
  return to == RunPhase::closed || std::find(kNextPhases.begin(), kNextPhases.end(),
                                             std::pair(from, to)) != kNextPhases.end();
}

}  // namespace msprof
