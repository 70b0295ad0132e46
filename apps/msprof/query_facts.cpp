// msprof query without SQL: what a capture is and what can be asked of it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "analyze/capture_facts.hpp"
#include "base/number.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/text_table.hpp"
#include "msprof/json_document.hpp"
#include "msprof/query_parts.hpp"

namespace msprof {

namespace {

using nlohmann::ordered_json;

std::string name_of(const ChosenCapture& capture) {
  return std::filesystem::weakly_canonical(capture.folder).filename().string();
}

template <typename Value>
ordered_json json_of(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json();
}
ordered_json json_of(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(valid_utf8(text));
}
ordered_json json_of(const ProductFacts& products) {
  return {{"with_data", products.with_data}, {"without_data", products.without_data}};
}

ordered_json json_of(const std::vector<DeviceFacts>& devices) {
  ordered_json all = ordered_json::array();
  for (const DeviceFacts& device : devices) {
    all.push_back({{"id", device.id},
                   {"chip", json_of(device.chip)},
                   {"frequency_hz", json_of(device.frequency_hz)},
                   {"cores", json_of(device.core_count)},
                   {"vector_cores", json_of(device.vector_core_count)},
                   {"tasks", device.task_count}});
  }
  return all;
}

ordered_json json_of(const std::vector<RankFacts>& ranks) {
  ordered_json all = ordered_json::array();
  for (const RankFacts& rank : ranks) {
    all.push_back({{"group", json_of(rank.group)},
                   {"rank", json_of(rank.rank)},
                   {"rank_count", json_of(rank.rank_count)}});
  }
  return all;
}

ordered_json json_of(const std::vector<ModelFacts>& models) {
  ordered_json all = ordered_json::array();
  for (const ModelFacts& model : models) {
    all.push_back(
        {{"id", json_of(model.id)}, {"name", json_of(model.name)}, {"tasks", model.task_count}});
  }
  return all;
}

ordered_json json_of(const std::vector<IterationFacts>& iterations) {
  ordered_json all = ordered_json::array();
  for (const IterationFacts& of : iterations) {
    all.push_back({{"device", json_of(of.device_id)},
                   {"model", json_of(of.model_id)},
                   {"model_name", json_of(of.model_name)},
                   {"first", of.first},
                   {"last", of.last},
                   {"count", of.count},
                   {"mean_ns", json_of(of.mean_ns)}});
  }
  return all;
}

ordered_json json_of(const ChosenCapture& capture, const CaptureFacts& facts,
                     const ReadyStore& ready) {
  ordered_json one = {
      {"folder", valid_utf8(capture.folder.string())},
      {"name", valid_utf8(name_of(capture))},
      {"dialect", json_of(facts.dialect)},
      {"chip", json_of(facts.chip)},
      {"begin_ns", json_of(facts.begin_ns)},
      {"begin_utc", facts.begin_ns ? json_of(utc_text(*facts.begin_ns)) : ordered_json()},
      {"duration_ns", json_of(facts.duration_ns)},
      {"verdict", json_of(ready.verdict)},
      {"host_rank", json_of(facts.host_rank)},
      {"devices", json_of(facts.devices)},
      {"ranks", json_of(facts.ranks)},
      {"models", json_of(facts.models)}};
  one[facts.has_steps ? "steps" : "iterations"] = json_of(facts.iterations);
  one["products"] = {{"summaries", json_of(facts.summaries)},
                     {"timelines", json_of(facts.timelines)},
                     {"db", facts.has_db}};
  return one;
}

// A table of cells that are all texts to it; what is not known is "-".
class Listing {
 public:
  // `numbers`: whether the columns are numbers.
  Listing(std::string title, std::vector<std::string> columns, std::vector<bool> numbers)
      : title_(std::move(title)), numbers_(std::move(numbers)), table_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { table_.add_row(std::move(cells), numbers_); }
  void print() const {
    if (table_.row_count() == 0) return;
    fmt::print("\n{}\n{}", title_,
               table_.render(terminal_columns(STDOUT_FILENO, 0), colour_allowed(STDOUT_FILENO)));
  }

 private:
  std::string title_;
  std::vector<bool> numbers_;
  TextTable table_;
};

std::string cell(const std::string& text) {
  return text.empty() ? "-" : text;
}
std::string cell(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : "-";
}
std::string fraction(std::optional<std::int64_t> number, std::int64_t unit, int decimals) {
  return number ? fixed(*number, unit, decimals) : "-";
}

void print_head(const ChosenCapture& capture, const CaptureFacts& facts, const ReadyStore& ready) {
  const std::string begin = facts.begin_ns ? utc_text(*facts.begin_ns) : "";
  fmt::print("{}\n", printable(name_of(capture)));
  fmt::print("dialect    {}\n", printable(cell(facts.dialect)));
  fmt::print("chip       {}\n", printable(cell(facts.chip)));
  fmt::print("collected  {}{}\n", begin.empty() ? "at an unknown moment" : begin,
             facts.duration_ns
                 ? fmt::format(", for {} s", fixed(*facts.duration_ns, 1'000'000'000, 3))
                 : "");
  fmt::print("verdict    {}\n", ready.exit == Exit::ok
                                    ? printable(ready.verdict_text)
                                    : "PARTIAL DATA: `msprof import` says what is missing");
  if (facts.host_rank) fmt::print("rank       {}\n", *facts.host_rank);
}

void print_devices(const CaptureFacts& facts) {
  Listing listing("Devices",
                  {"Device", "Chip", "Frequency(MHz)", "AI Cores", "Vector Cores", "Tasks"},
                  {true, false, true, true, true, true});
  for (const DeviceFacts& device : facts.devices) {
    listing.add({std::to_string(device.id), cell(device.chip),
                 fraction(device.frequency_hz, 1'000'000, 0), cell(device.core_count),
                 cell(device.vector_core_count), std::to_string(device.task_count)});
  }
  listing.print();
}

void print_ranks(const CaptureFacts& facts) {
  Listing listing("Ranks", {"Group", "Rank", "Ranks"}, {false, true, true});
  for (const RankFacts& rank : facts.ranks)
    listing.add({cell(rank.group), cell(rank.rank), cell(rank.rank_count)});
  listing.print();
}

void print_models(const CaptureFacts& facts) {
  Listing listing("Models", {"Model ID", "Name", "Tasks"}, {true, false, true});
  for (const ModelFacts& model : facts.models)
    listing.add({cell(model.id), cell(model.name), std::to_string(model.task_count)});
  listing.print();
}

void print_iterations(const CaptureFacts& facts) {
  const bool steps = facts.has_steps;
  Listing listing(steps ? "Steps" : "Iterations",
                  {"Device", "Model ID", "Name", "First", "Last", "Count", "Mean Time(us)"},
                  {true, true, false, true, true, true, true});
  for (const IterationFacts& of : facts.iterations) {
    listing.add({cell(of.device_id), cell(of.model_id), cell(of.model_name),
                 std::to_string(of.first), std::to_string(of.last), std::to_string(of.count),
                 fraction(of.mean_ns, 1000, 3)});
  }
  listing.print();
}

void print_products(std::string_view verb, const ProductFacts& products) {
  fmt::print("{:<18} {}\n", verb,
             products.with_data.empty() ? "nothing"
                                        : fmt::format("{}", fmt::join(products.with_data, ", ")));
  if (!products.without_data.empty())
    fmt::print("{:<18} no data for {}\n", "", fmt::join(products.without_data, ", "));
}

void print_text(const ChosenCapture& capture, const CaptureFacts& facts, const ReadyStore& ready) {
  print_head(capture, facts, ready);
  print_devices(facts);
  print_ranks(facts);
  print_models(facts);
  print_iterations(facts);
  fmt::print("\nProducts\n");
  print_products("export summary", facts.summaries);
  print_products("export timeline", facts.timelines);
  fmt::print("{:<18} {}\n", "export db",
             facts.has_db ? "msprof_*.db" : "not of this kind of capture");
}

Exit tell_one(const QueryArguments& arguments, const ChosenCapture& capture,
              ordered_json& document) {
  const ReadyStore ready = ready_store(capture);
  const CaptureFacts facts = capture_facts(ready.db.database());
  if (arguments.json) {
    document["captures"].push_back(json_of(capture, facts, ready));
  } else {
    print_text(capture, facts, ready);
  }
  return ready.exit;
}

}  // namespace

Exit tell_facts(const QueryArguments& arguments) {
  ordered_json document = {{"schema", "msprof.query/2"}, {"captures", ordered_json::array()}};
  bool is_first = true;
  const auto work = [&] {
    return for_each_capture(
        choose_captures(arguments.capture),
        [&](const ChosenCapture& capture) {
          if (!arguments.json && !is_first) fmt::print("\n");
          is_first = false;
          return tell_one(arguments, capture, document);
        },
        &document["captures"]);
  };
  return arguments.json ? print_document(document, work) : work();
}

}  // namespace msprof
