// Small hand-filled stores for the tests of the advice rules.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "store/trace_db.hpp"
#include "store/trace_db_writer.hpp"
#include "store/unit_loads.hpp"
#include "support/temp_folder.hpp"

namespace msprof::test {

// A store that is first filled, then read.
class Scene {
 public:
  explicit Scene(std::string_view dialect);
  virtual ~Scene() = default;
  // Finishes filling; nothing can be added afterwards.
  const TraceDb& db();
  const std::filesystem::path& folder() const { return folder_.path(); }
  void add_call(const std::string& name, std::int64_t start_us, std::int64_t end_us);

 protected:
  // Called by db(): writes the rows that are still missing.
  virtual void finish() {}
  std::int64_t name(std::string_view text) { return writer_.name_id(text); }
  TempFolder folder_;
  TraceDbWriter writer_;

 private:
  std::int64_t calls_ = 0;
  std::optional<TraceDb> db_;
};

// A model of layers whose executions follow one another.
class LayerScene : public Scene {
 public:
  struct Layer {
    std::string name;
    std::string type;
    std::int64_t us = 100;
    // e.g. "mac_busy", in percent of its time; unnamed loads are 10
    std::map<std::string, double> loads = {};
    bool on_cpu = false;
  };
  explicit LayerScene(std::vector<Layer> layers);
  // Duration of each execution relative to the layers' `us`; one execution by default.
  std::vector<std::int64_t> executions = {1};
  std::int64_t icache_hit = kNull;
  std::int64_t icache_miss = kNull;
  UnitLoads unit_loads = UnitLoads::measured;

 protected:
  void finish() override;

 private:
  void add_task(std::size_t layer, std::int64_t execution, std::int64_t us);
  std::vector<Layer> layers_;
  std::int64_t tasks_ = 0;
  std::int64_t now_us_ = 1000;
};

// Operators of device 0, one after the other.
class OperatorScene : public Scene {
 public:
  struct Operator {
    std::string name;
    std::string type;
    std::string unit = "AI_CORE";
    double us = 100;
    double wait_us = 0;
    std::int64_t blocks = 8;  // number of blocks on 8 cores
    std::map<std::string, double> ratios = {};
    std::string input_types = "FLOAT16";
  };
  explicit OperatorScene(std::string metrics = "PipeUtilization");
  void add(const Operator& op);
  void add_overlap(std::int64_t kind, std::int64_t begin_us, std::int64_t end_us);
  // A counter of device 0 or of the host. A sample is at a time or, with a start, covers an
  // interval.
  struct Track {
    std::string kind;
    std::string subject;
    std::string counter;
    std::string unit;
    std::int64_t divisor = 1;
    bool is_rate = false;
    bool is_of_host = false;
    std::string detail = {};
  };
  std::int64_t add_track(const Track& track);
  void add_sample(std::int64_t track, std::int64_t time_us, std::int64_t value);
  void add_interval(std::int64_t track, std::int64_t begin_us, std::int64_t end_us,
                    std::int64_t value);
  void add_iteration(std::int64_t number, std::int64_t begin_us, std::int64_t end_us);
  void add_workspace(const std::string& op_name, std::int64_t bytes);

 private:
  std::vector<std::string> events_;  // in the order of the counters' columns
  std::int64_t rows_ = 0;
  std::int64_t tracks_ = 0;
  std::int64_t now_ns_ = 2'000'000'000;
};

}  // namespace msprof::test
