// Stores from other programs with more rows, or longer texts, than any import writes.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "analyze/capture_info.hpp"
#include "analyze/overview.hpp"
#include "export/summary/svp_tables.hpp"
#include "export/table/table_reader.hpp"
#include "import/importer.hpp"
#include "support/cann_store.hpp"
#include "support/files.hpp"

namespace msprof::test {

TEST_CASE("query lists 10,000 devices, ranks, models and iterations of a store, not more") {
  constexpr std::int64_t kCount = 10'003;
  CannStore store;
  const std::int64_t group = store.name("group");
  for (std::int64_t id = 1; id <= kCount; ++id) {
    DeviceRow device;
    device.id = id;
    store.add(device);
    IterationRow iteration;
    iteration.id = iteration.model_number = id;
    store.add(iteration);
    CommCallRow call;
    call.id = call.local_rank = id;
    call.op_group_name_id = group;
    store.add(call);
  }
  const CaptureInfo info = capture_info(store.db().database());
  constexpr std::size_t kListed = 10'000;
  CHECK(info.devices.size() == kListed);
  CHECK(info.ranks.size() == kListed);
  CHECK(info.models.size() == kListed);
  CHECK(info.iterations.size() == kListed);
}

TEST_CASE("query cuts texts that no import writes") {
  CannStore store;
  DeviceRow device;
  device.chip_name_id = store.name(std::string(100'000, 'c'));
  for (device.id = 1; device.id <= 3; ++device.id) store.add(device);
  const CaptureInfo info = capture_info(store.db().database());
  REQUIRE(info.devices.size() == 3);
  CHECK(info.devices.back().chip == std::string(1000, 'c'));
}

// A JOB store with one model, whose name and layers' names have 100,000 characters. Each step has
// one layer.
class JobStore {
 public:
  JobStore(std::int64_t steps, std::int64_t ops, std::int64_t layers) : writer_(path()) {
    writer_.set_meta("dialect", "svp");
    ModelRow model;
    model.id = 1;
    model.name_id = writer_.name_id(std::string(100'000, 'm'));
    writer_.add(model);
    for (OpRow op; op.id < ops; ++op.id) {
      op.model_row = model.id;
      op.position = ops - op.id;
      op.name_id = op.original_name_id = op.type_name_id = model.name_id;
      op.unit_name_id = writer_.name_id("AA_CORE");
      writer_.add(op);
    }
    std::int64_t layer_id = 0;
    for (std::int64_t id = 1; id <= steps; ++id) {
      StepRow step;
      step.id = id;
      step.model_row = model.id;
      writer_.add(step);
      StepTimeRow time;
      time.step_id = id;
      writer_.add(time);
      writer_.add(TaskRunRow{id, id, 1, 0, kNull});
      for (LayerTimeRow layer; layer.op_id < layers; ++layer.op_id) {
        layer.id = ++layer_id;
        layer.step_id = id;
        layer.task_count = layer.execution_count = 1;
        writer_.add(layer);
      }
    }
    writer_.publish();
  }

  std::filesystem::path path() const { return folder_ / "msprof.db"; }
  TraceDb open() const { return TraceDb::open(path()).value(); }

 private:
  TempFolder folder_;
  TraceDbWriter writer_;
};

TEST_CASE("the steps of a model share one copy of its name, which is cut") {
  const JobStore store(3, 1, 1);
  const TraceDb db = store.open();
  const auto steps = steps_with_tasks(db.database());
  REQUIRE(steps.size() == 3);
  CHECK(*steps[0].model_name == std::string(1000, 'm'));
  CHECK(steps[0].model_name == steps[2].model_name);
}

TEST_CASE("names of files contain at most 255 characters of a model's name") {
  const JobStore store(1, 1, 1);
  const TraceDb db = store.open();
  const auto models = svp::models(db.database());
  REQUIRE(models.size() == 1);
  CHECK(models[0].name == std::string(255, 'm'));
  std::vector<std::string> names;
  svp::visit_captures(db.database(), [&](const svp::SvpCapture& capture) {
    names.push_back(capture.model.name);
    return true;
  });
  CHECK(names == std::vector{std::string(255, 'm')});
}

TEST_CASE("files of more models than a store may have are left out") {
  const TempFolder folder;
  const std::filesystem::path capture = folder / "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC";
  std::filesystem::create_directories(capture / "data");
  for (int model = 0; model <= 100'000; ++model)
    write_file(capture / "data" / fmt::format("acl_api.0.net.{}", model), "");
  const auto session = Session::open(capture);
  CHECK(session->raw_files().size() == 100'000);
  REQUIRE(!session->findings().empty());
  CHECK(session->findings().back().reason == "files beyond the limits, not read");
}

TEST_CASE("layers with the same name share one copy of it") {
  const JobStore store(1, 3, 3);
  const TraceDb db = store.open();
  const auto layers = svp::layer_totals(db.database(), svp::capture(db.database(), 1));
  REQUIRE(layers.size() == 3);
  CHECK(layers[0].name->size() == 100'000);
  CHECK(layers[0].name == layers[2].name);
  CHECK(layers[0].name == layers[1].original_names);
}

TEST_CASE("a step with more layers than any model has is read, with one copy of their name") {
  constexpr std::int64_t kCount = 50'001;
  const JobStore store(1, kCount, kCount);
  const TraceDb db = store.open();
  const auto layers = svp::layer_totals(db.database(), svp::capture(db.database(), 1));
  REQUIRE(layers.size() == kCount);
  CHECK(layers.front().name == layers.back().name);
}

TEST_CASE("a store with more models than any board loads is imported again") {
  const bool is_of_board = GENERATE(false, true);
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  writer.set_meta("dialect", is_of_board ? "svp" : "cann");
  for (ModelRow model; model.id <= 100'000; ++model.id) writer.add(model);
  writer.publish();
  CHECK(TraceDb::open(folder / "msprof.db").has_value() == !is_of_board);
}

TEST_CASE("a store with more devices than any machine has is imported again") {
  const std::int64_t count = GENERATE(20'000, 20'001);
  const TempFolder folder;
  TraceDbWriter writer(folder / "msprof.db");
  for (DeviceRow device; device.id < count; ++device.id) writer.add(device);
  writer.publish();
  CHECK(TraceDb::open(folder / "msprof.db").has_value() == (count == 20'000));
}

TEST_CASE("a capture of more devices than a store may have is imported in part, and only once") {
  const bool is_of_board = GENERATE(true, false);
  const TempFolder folder;
  const std::filesystem::path capture =
      folder / (is_of_board ? "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC"
                            : "PROF_000001_20231114221320000_ABCDEFGHIJKLMNOP");
  std::filesystem::create_directories(capture / "data");
  for (int device = 0; device <= 20'000; ++device) {
    if (is_of_board) {
      write_file(capture / "data" / fmt::format("acl_api.{}.net.1", device), "");
    } else {
      std::filesystem::create_directories(capture / fmt::format("device_{}", device));
    }
  }
  const auto session = Session::open(capture);
  const auto path = store_path(capture);
  const ImportReport report = import_session(*session, path, {});
  CHECK(report.is_partial());
  const std::string reason = is_of_board ? "1 file; at most 20,000 devices"
                                         : "devices beyond the limit, not read: at most 20,000";
  INFO(report.text());
  CHECK(report.text().find(reason) != std::string::npos);
  CHECK(current_store(*Session::open(capture), path).has_value());
}

TEST_CASE("visiting files stops when the visitor returns false") {
  const JobStore store(3, 1, 1);
  const TraceDb db = store.open();
  const auto table = find_table(db.database(), "op_summary");
  REQUIRE(table);
  std::size_t seen = 0;
  table->visit_files(db.database(), [&](const OutputFile&) { return ++seen < 2; });
  CHECK(seen == 2);
  CHECK(table->has_files(db.database()));
}

}  // namespace msprof::test
