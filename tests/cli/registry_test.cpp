// The lists from which help, manual, completion and doctor are generated: descriptions of products
// and verbs are complete and correct, and README and docs/ name all of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "export/old/registry.hpp"
#include "export/products.hpp"
#include "import/raw_kind.hpp"
#include "msprof/verbs.hpp"
#include "query/views.hpp"
#include "support/files.hpp"
#include "support/job_builder.hpp"
#include "support/prof/prof_run.hpp"
#include "support/temp_folder.hpp"

using namespace msprof;

namespace {

using Words = std::vector<std::string>;

template <typename Products, typename Takes>
Words product_names(const Products& products, Takes&& takes) {
  Words names;
  for (const auto& product : products) {
    if (takes(product)) names.emplace_back(product->name());
  }
  return names;
}

Words exported_tables(Dialect dialect) {
  return product_names(all_summary_tables(), [&](const auto& table) {
    return table->is_exported() && table->info().dialect == dialect;
  });
}
Words layer_names(Dialect dialect) {
  return product_names(all_timeline_layers(),
                       [&](const auto& layer) { return layer->info().dialect == dialect; });
}
// The layers of system counters in Atlas captures, which are on a separate page, and the others.
Words counter_layers() {
  return product_names(all_timeline_layers(),
                       [](const auto& layer) { return layer->info().group == kCounterLayers; });
}
Words engine_layers() {
  return product_names(all_timeline_layers(),
                       [](const auto& layer) { return layer->info().group == kEngineLayers; });
}
Words single_layers() {
  return product_names(all_timeline_layers(), [](const auto& layer) {
    return layer->info().dialect == Dialect::cann && layer->info().group.empty();
  });
}
Words sorted(Words words) {
  std::sort(words.begin(), words.end());
  return words;
}

// Returns a page of the manual, e.g. "docs/import.md", with white space collapsed; and its lines.
std::string page(const std::string& name) {
  const std::string text = test::read_file(std::string(MSPROF_PAGES) + "/" + name);
  return std::regex_replace(text, std::regex("\\s+"), " ");
}
Words page_lines(const std::string& name) {
  std::istringstream text(test::read_file(std::string(MSPROF_PAGES) + "/" + name));
  Words lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The text between `begin` and the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const auto at = text.find(begin);
  INFO(begin);
  REQUIRE(at != std::string::npos);
  return text.substr(at + begin.size(), text.find(end, at + begin.size()) - at - begin.size());
}
Words split_words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}
// The words in `backticks`.
Words quoted_words(const std::string& text) {
  const std::regex quoted("`([^`]+)`");
  Words words;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at)
    words.push_back((*at)[1]);
  return words;
}

// The pages that a line links to, e.g. "docs/import.md".
Words linked_pages(const std::string& line) {
  const std::regex link("\\]\\((docs/[^)#]+)");
  Words names;
  for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

// The names `quoted` in the first cells of a table on a page.
Words names_of_rows(const std::string& name, const std::string& title) {
  Words names;
  const Words lines = page_lines(name);
  for (auto line = std::find(lines.begin(), lines.end(), title);
       line != lines.end() && !line->empty(); ++line) {
    for (const std::string& word : quoted_words(line->substr(0, line->find(" | ", 2))))
      names.push_back(word);
  }
  return names;
}

// Each of `wanted` is among `rows`, and no row is repeated.
void check_named(const Words& wanted, const Words& rows) {
  CHECK(std::adjacent_find(rows.begin(), rows.end()) == rows.end());
  for (const std::string& name : wanted) {
    CAPTURE(name);
    CHECK(std::binary_search(rows.begin(), rows.end(), name));
  }
}

// Returns the file names in the table of a board's files, e.g. "summary/op_summary_{device}…".
Words files_of_boards(const std::string& folder) {
  Words names;
  for (const std::string& line : page_lines("docs/import.md")) {
    std::smatch match;
    if (std::regex_search(line, match, std::regex("^\\| `" + folder + "/(\\w+?)_\\{")))
      names.push_back(match[1]);
  }
  return names;
}

std::set<std::string> kind_names(const Session& session) {
  std::set<std::string> names;
  for (const auto& kind : builtin_kinds(session).kinds) names.emplace(kind->name());
  return names;
}

bool has_json(const cli::Command& command) {
  return std::any_of(command.options().begin(), command.options().end(),
                     [](const auto& option) { return option->names == "--json"; }) ||
         std::any_of(command.commands().begin(), command.commands().end(),
                     [](const auto& child) { return has_json(*child); });
}

const cli::Command& command_at(const cli::Command& root, const Words& path) {
  const cli::Command* command = &root;
  for (const std::string& name : path) {
    const auto found = std::find_if(command->commands().begin(), command->commands().end(),
                                    [&](const auto& child) { return child->name() == name; });
    REQUIRE(found != command->commands().end());
    command = found->get();
  }
  return *command;
}

}  // namespace

TEST_CASE("every product says its name, which is its own, and what it is") {
  std::set<std::pair<Dialect, std::string_view>> tables, layers;
  for (const auto& table : all_summary_tables()) {
    CAPTURE(table->name());
    CHECK(tables.emplace(table->info().dialect, table->name()).second);
    CHECK_FALSE(table->info().title.empty());
    CHECK_FALSE(table->info().help.empty());
    CHECK((table->is_exported() || table->info().is_shown));
  }
  for (const auto& layer : all_timeline_layers()) {
    CAPTURE(layer->name());
    CHECK(layers.emplace(layer->info().dialect, layer->name()).second);
    CHECK_FALSE(layer->info().help.empty());
  }
  CHECK(tables.size() >= 18);
  CHECK(layers.size() >= 11);
}

TEST_CASE("what a product needs are kinds of raw files that import reads") {
  const test::TempFolder folder;
  test::JobBuilder job(folder.path(), "JOBABCDEFGHIJKLMNOPQRSTUVWXYZABC");
  job.info_json("1000");
  const auto run = test::prof::make_run(folder.path(), {}, {});
  std::map<Dialect, std::set<std::string>> known;
  known[Dialect::svp] = kind_names(*Session::open(job.folder()));
  known[Dialect::cann] = kind_names(*Session::open(run.folder));
  REQUIRE(known[Dialect::svp].size() == 6);
  REQUIRE(known[Dialect::cann].size() > 20);

  const auto check = [&](const auto& products) {
    for (const auto& product : products) {
      CAPTURE(product->name());
      const auto& info = product->info();
      CHECK_FALSE(info.needs.kinds.empty());
      for (const std::string_view group : split(info.needs.kinds, ' ')) {
        for (const std::string_view kind : split(group, '|'))
          CHECK(known[info.dialect].contains(std::string(kind)));
      }
    }
  };
  auto tables = all_summary_tables();
  std::erase_if(tables, [](const auto& table) { return !table->is_exported(); });
  check(tables);
  check(all_timeline_layers());
}

TEST_CASE("tables and topics of --style cann5 are adjacent, older generations last") {
  const auto check = [](const auto& entries) {
    std::set<std::string_view> topics;
    const auto* last = &entries.front();
    for (const auto& entry : entries) {
      CAPTURE(entry.topic);
      CHECK((entry.topic == last->topic || topics.count(entry.topic) == 0));
      topics.insert(entry.topic);
      CHECK(entry.make()->info().dialect == Dialect::cann);
      last = &entry;
    }
  };
  for (const old::Age age : {old::Age::current, old::Age::cann5, old::Age::classic}) {
    check(old::tables_of(age));
    check(old::layers_of(age));
    for (const auto& entry : old::tables_of(age)) {
      CAPTURE(entry.topic);
      CHECK(entry.make()->name() == entry.topic);
      CHECK(old::find_table(age, entry.topic).make == entry.make);
    }
  }
  CHECK(cann5_timelines().back() == old::kAllProcesses);
}

TEST_CASE("export --help names every table and layer that there is") {
  const auto root = build_command_tree();
  const std::string help = command_at(*root, {"export", "summary"}).help();
  const auto listed = [](const std::string& text) {
    Words words = split_words(text);
    for (std::string& word : words) std::erase(word, ',');
    return words;
  };
  CHECK(listed(between(help, "(into summary/): ", ".")) == exported_tables(Dialect::svp));
  CHECK(listed(between(help, "(into mindstudio_profiler_output/): ", ".")) ==
        exported_tables(Dialect::cann));

  std::string layers;
  for (const auto& option : command_at(*root, {"export", "timeline"}).options()) {
    if (option->names == "--layers") layers = option->help;
  }
  CHECK(listed(between(layers, "JOB…: ", ". PROF…: ")) == layer_names(Dialect::svp));
  CHECK(sorted(listed(between(layers, ". PROF…: ", " ("))) == sorted(single_layers()));
  CHECK(listed(between(layers, "named), ", " (all")) == counter_layers());
  CHECK(listed(between(layers, "V6 chips: ", " (all")) == engine_layers());
  CHECK(listed(between(layers, " (", " only if")) ==
        product_names(all_timeline_layers(),
                      [](const auto& layer) { return !layer->info().is_default; }));
}

TEST_CASE("the manual names every table and layer that there is, and no other") {
  CHECK(files_of_boards("summary") == exported_tables(Dialect::svp));
  CHECK(files_of_boards("timeline") == layer_names(Dialect::svp));

  // System counters are on a separate page.
  const Words exported = sorted(exported_tables(Dialect::cann));
  Words tables = names_of_rows("docs/atlas.md", "| table | what |");
  for (const std::string& name : tables) {
    CAPTURE(name);
    CHECK(std::binary_search(exported.begin(), exported.end(), name));
  }
  for (std::string& name : names_of_rows("docs/counters.md", "| table | columns |"))
    tables.push_back(std::move(name));
  check_named(exported, sorted(tables));

  const std::string layers =
      between(page("docs/timelines.md"), "| `--layers LAYER…` |", " or `all`");
  const Words quoted = quoted_words(layers);
  REQUIRE(quoted.size() == 5);
  CHECK(split_words(quoted[0]) == layer_names(Dialect::svp));
  CHECK(sorted(split_words(quoted[1])) == sorted(single_layers()));
  CHECK(quoted[2] == kCounterLayers);
  CHECK(quoted[3] == kEngineLayers);
  CHECK(split_words(quoted[4]) == engine_layers());
  check_named(counter_layers(), sorted(names_of_rows("docs/counters.md", "| layer | draws |")));
}

TEST_CASE("the manual names the files of --style cann5 in their order") {
  const Words quoted =
      quoted_words(between(page("docs/atlas.md"), "do not apply: timelines ", ", with the column"));
  REQUIRE(quoted.size() == 2);
  Words topics;
  for (const std::string_view topic : cann5_timelines()) topics.emplace_back(topic);
  CHECK(split_words(quoted[0]) == topics);
  CHECK(split_words(quoted[1]) == product_names(cann5_tables(), [](const auto&) { return true; }));
}

TEST_CASE("README shows every verb, and the manual says which of them have no --json") {
  const auto root = build_command_tree();
  const Words lines = page_lines("README.md");
  Words without;
  for (const auto& verb : root->commands()) {
    if (verb->is_hidden()) continue;
    CAPTURE(verb->name());
    const auto row = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.starts_with("| `msprof " + verb->name() + "` |");
    });
    REQUIRE(row != lines.end());
    // Each page linked by the row shows the verb; the first page explains how to list all its
    // options.
    const Words pages = linked_pages(*row);
    REQUIRE_FALSE(pages.empty());
    for (const std::string& name : pages) {
      CAPTURE(name);
      CHECK(page(name).find("msprof " + verb->name() + " ") != std::string::npos);
    }
    CHECK(page(pages.front()).find("`msprof " + verb->name() + " --help`") != std::string::npos);
    if (!has_json(*verb)) without.push_back(verb->name());
  }
  CHECK(quoted_words(between(page("docs/import.md"), "All verbs but ", " have `--json`")) ==
        without);
}

TEST_CASE("the manual names every view that SQL can ask") {
  const Words names = quoted_words(between(page("docs/query.md"), "| view |", "- What a dialect"));
  Words views_there;
  for (const View& view : views()) views_there.emplace_back(view.name);
  CHECK(sorted(names) == sorted(views_there));
}

TEST_CASE("no verb has the name of a table, for which the parser would take the verb") {
  const auto root = build_command_tree();
  Words tables = product_names(all_summary_tables(), [](const auto&) { return true; });
  for (const auto& table : cann5_tables()) tables.emplace_back(table->name());
  for (const auto& verb : root->commands()) {
    CAPTURE(verb->name());
    CHECK(std::find(tables.begin(), tables.end(), verb->name()) == tables.end());
  }
}
