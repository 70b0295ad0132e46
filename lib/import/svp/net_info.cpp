// Raw kind <model>.<model_id>.net.info. The reference format is the line "#msprof-net 1" and
// key:value lines. On a board, the file is part of the model file, and only its existence is used.
// Writes the model, step and op rows after all files have been read. Source: svp_job.md 5.1, 5.2.
#include <fmt/format.h>

#include "base/file_reader.hpp"
#include "base/text.hpp"
#include "import/svp/known_facts.hpp"
#include "import/svp/svp_models.hpp"

namespace msprof::svp {

namespace {

constexpr std::uint64_t kMaxNetBytes = 64 << 20;

class NetInfoKind : public RawKind {
 public:
  explicit NetInfoKind(SvpModels& models) : models_(models) {}

  std::string_view name() const override { return kind_name(SvpFileKind::net_info); }
  bool owns(const RawFile& file) const override {
    return models_.parsed_name(file).kind == SvpFileKind::net_info;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    const std::string text = read_text_file(file.path, kMaxNetBytes);
    const auto lines = split(text, '\n');
    const std::string_view first = trim(lines.front());
    context.report.count_file(name(), 1);
    if (!first.starts_with("#msprof-net ")) {
      context.report.add(FindingId::no_batch, name(), file.name,
                         text.empty() ? "empty, only its file name is used"
                                      : "undocumented binary format, only its file name is used");
      return;
    }
    if (first != "#msprof-net 1") {
      context.report.add(FindingId::unknown_version, name(), file.name,
                         fmt::format("unknown version '{}'", printable(first)));
      return;
    }
    for (const auto line : lines) read_line(context, file, line);
  }

  void finish(const ImportContext& context) override {
    models_.write_rows(context.store);
    report_known(context, models_);
    report_no_execution(context, models_);
    context.report.set_unit_loads(models_.unit_loads());
  }

 private:
  void read_line(const ImportContext& context, const RawFile& file, std::string_view line) {
    const SvpFileName& model = models_.parsed_name(file);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    const std::string_view key = trim(line.substr(0, colon));
    const std::string_view value = trim(line.substr(colon + 1));
    const auto number = parse_i64(value);
    if (key == "batch_num") {
      if (number && *number > 0) {
        models_.set_batch_num(model, *number);
      } else {
        context.report.add(FindingId::broken_info, name(), file.name, "batch_num is not a number");
      }
    } else if (key == "model_name" && value != model.model) {
      context.report.add(FindingId::differing_name, name(), file.name,
                         "model_name differs from the file name, the file name is used",
                         fmt::format("'{}'", value));
    } else if (key == "model_id" && number != model.model_id) {
      context.report.add(FindingId::differing_name, name(), file.name,
                         "model_id differs from the file name, the file name is used",
                         fmt::format("'{}'", value));
    }
  }

  SvpModels& models_;
};

}  // namespace

std::unique_ptr<RawKind> make_net_info_kind(SvpModels& models) {
  return std::make_unique<NetInfoKind>(models);
}

}  // namespace msprof::svp
