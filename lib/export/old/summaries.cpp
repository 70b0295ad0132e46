// Plans the tables of `--style cann5`.
#include <fmt/format.h>

#include "export/exporter.hpp"
#include "export/old/parts.hpp"
#include "export/old/registry.hpp"
#include "export/products.hpp"
#include "export/scope/export_style.hpp"
#include "export/table/summary_file.hpp"

namespace msprof {

namespace fs = std::filesystem;

namespace old {

namespace {

using SharedTables = std::shared_ptr<const SummaryTables>;

void plan_tables(const Database& db, Age age, const SharedTables& tables, const DevicePart& part,
                 const std::shared_ptr<ProductFolder>& folder, SummaryFormat format,
                 std::vector<ExportJob>& jobs) {
  const std::string_view extension = format == SummaryFormat::json ? kJsonTableExtension : ".csv";
  std::vector<std::string_view> missing;
  for (const auto& table : *tables) {
    const Rows rows = find_table(age, table->name()).rows;
    if ((rows == Rows::host) != part.is_host()) continue;
    if (!table->has_files(db)) {
      missing.push_back(table->name());
      continue;
    }
    OutputFile output_file = make_output_file(table->name(), part);
    if (rows != Rows::selected) output_file.scope = part.scope.without_iteration();
    folder->claim(output_file.product);
    std::string name = fmt::format("{}{}", output_file.stem, extension);
    SummaryFile summary{table.get(), std::move(output_file), std::move(name)};
    jobs.push_back(
        {[tables, folder, part, format, file = std::move(summary)](const Database& connection) {
           return write_or_say(part, file.table->name(),
                               [&] { return write_summary(connection, *folder, format, file); });
         },
         folder});
  }
  warn_missing(part, missing);
}

}  // namespace

}  // namespace old

std::vector<ExportJob> plan_cann5_summaries(const TraceDb& store, const fs::path& base,
                                            const SummaryOptions& options) {
  using namespace old;
  const Database& db = store.database();
  const std::string generation = read_generation(db);
  const auto tables =
      std::make_shared<const SummaryTables>(tables_named(cann5_tables(generation), options.names));
  std::vector<ExportJob> jobs;
  Folders folders(db, base, "summary", ledger_kind(options.format));
  const auto plan = [&](const DevicePart& part) {
    plan_tables(db, to_age(generation), tables, part, folders.find(part, options.names.empty()),
                options.format, jobs);
  };
  for (const DevicePart& part : split_by_device(db, options.scope)) plan(part);
  plan(host_part(options.scope));
  return jobs;
}

}  // namespace msprof
