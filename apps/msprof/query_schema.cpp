// msprof query --schema: what SQL can name. Needs no capture.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "export/products.hpp"
#include "msprof/json_document.hpp"
#include "msprof/query_parts.hpp"
#include "query/views.hpp"
#include "store/store_tables.hpp"

namespace msprof {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kAboutViews =
    "Views: stable names and units, for JOB… and PROF… alike; NULL is what is not known.";
constexpr std::string_view kAboutProducts =
    "Summary tables of `export summary`, filled when SQL names them. Columns are the file's "
    "headers "
    "in\nsmall letters without units, \"Task Duration(us)\" is task_duration; N/A is NULL; rows of "
    "totals are left\nout. Of JOB… captures the columns model_id and step say which capture of a "
    "model a row is about.\n`SELECT * FROM op_summary LIMIT 1` shows the columns that a capture "
    "has.";
constexpr std::string_view kAboutTables =
    "Tables of the store. They change with versions of msprof, the views do not. Where a summary "
    "table has\nthe same name, this one is main.NAME. Texts are ids into `name`, times are ns.";

struct ProductHelp {
  std::string name;
  std::string help;
};

// A name that both kinds of captures have stands once, with both helps.
std::vector<ProductHelp> products() {
  std::vector<ProductHelp> all;
  for (const auto& table : all_summary_tables()) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const ProductHelp& product) {
      return product.name == table->name();
    });
    if (same == all.end()) {
      all.push_back({std::string(table->name()), std::string(table->info().help)});
    } else if (same->help != table->info().help) {
      same->help += fmt::format("; {}", table->info().help);
    }
  }
  return all;
}

// "id INTEGER PRIMARY KEY" is the column id.
std::string column_of(const std::string& declaration) {
  return declaration.substr(0, declaration.find(' '));
}

void print_text() {
  fmt::print("{}\n", kAboutViews);
  for (const View& view : views()) {
    fmt::print("\n{}: {}\n", view.name, view.help);
    for (const ViewColumn& column : view.columns)
      fmt::print("  {:<16} {:<6} {}\n", column.name, column.unit, column.help);
  }
  fmt::print("\n{}\n\n", kAboutProducts);
  for (const ProductHelp& product : products())
    fmt::print("  {:<24} {}\n", product.name, product.help);
  fmt::print("\n{}\n\n", kAboutTables);
  for (const StoreTable& table : store_tables()) {
    std::string line = "  " + table.name + ":";
    for (const std::string& declaration : table.columns) {
      const std::string column = column_of(declaration);
      if (line.size() + column.size() > 98) {
        fmt::print("{}\n", line);
        line = "     ";
      }
      line += " " + column;
    }
    fmt::print("{}\n", line);
  }
}

void print_csv_row(std::initializer_list<std::string_view> cells) {
  std::string line;
  for (const std::string_view cell : cells) {
    if (!line.empty()) line += ',';
    if (cell.find_first_of(",\"") == std::string_view::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) {
      if (c == '"') line += '"';
      line += c;
    }
    line += '"';
  }
  fmt::print("{}\n", line);
}

void print_csv() {
  print_csv_row({"kind", "table", "column", "unit", "help"});
  for (const View& view : views()) {
    print_csv_row({"view", view.name, "", "", view.help});
    for (const ViewColumn& column : view.columns)
      print_csv_row({"view", view.name, column.name, column.unit, column.help});
  }
  for (const ProductHelp& product : products())
    print_csv_row({"summary table", product.name, "", "", product.help});
  for (const StoreTable& table : store_tables()) {
    for (const std::string& column : table.columns)
      print_csv_row({"table", table.name, column_of(column), "", ""});
  }
}

ordered_json document() {
  ordered_json all = {{"schema", "msprof.query.schema/1"},
                      {"views", ordered_json::array()},
                      {"summary_tables", ordered_json::array()},
                      {"tables", ordered_json::array()}};
  for (const View& view : views()) {
    ordered_json columns = ordered_json::array();
    for (const ViewColumn& column : view.columns) {
      const ordered_json unit = column.unit.empty() ? ordered_json() : ordered_json(column.unit);
      columns.push_back({{"name", column.name}, {"unit", unit}, {"help", column.help}});
    }
    all["views"].push_back({{"name", view.name}, {"help", view.help}, {"columns", columns}});
  }
  for (const ProductHelp& product : products())
    all["summary_tables"].push_back({{"name", product.name}, {"help", product.help}});
  for (const StoreTable& table : store_tables()) {
    ordered_json columns = ordered_json::array();
    for (const std::string& declaration : table.columns) columns.push_back(column_of(declaration));
    all["tables"].push_back({{"name", table.name}, {"columns", columns}});
  }
  return all;
}

}  // namespace

Exit print_query_schema(const QueryArguments& arguments) {
  const std::string format = arguments.json ? "json" : arguments.format.value_or("table");
  if (format == "json") {
    ordered_json all = document();
    return print_document(all, [] { return Exit::ok; });
  }
  format == "csv" ? print_csv() : print_text();
  return Exit::ok;
}

}  // namespace msprof
