// type_info_dic: lines `<level>_<type>:<name>`. hash_dic: lines `<hash>:<text>`. Decimal numbers,
// no header. Source: cann_host.md 1.5.
#include <fmt/format.h>

#include "base/text.hpp"
#include "import/cann/cann_kinds.hpp"
#include "import/cann/line_reader.hpp"

namespace msprof::cann {

namespace {

class DictionaryKind : public RawKind {
 public:
  DictionaryKind(CannImport& import, std::string_view stem) : import_(import), stem_(stem) {}

  std::string_view name() const override { return stem_; }
  bool owns(const RawFile& file) const override {
    return import_.session.name_of(file).stem == stem_;
  }

  void import(const ImportContext& context, const RawFile& file) override {
    ++files_;
    std::uint64_t entries = 0;
    LineReader lines(file.path);
    while (const auto line = lines.next()) {
      if (line->is_too_long) {
        context.report.skip_record(name(), file.name, "line longer than 16 MB", line->offset);
      } else if (line->text.empty()) {
        continue;
      } else if (add(line->text)) {
        ++entries;
      } else {
        context.report.skip_record(name(), file.name, "damaged line", line->offset);
      }
    }
    context.report.count_file(name(), entries);
  }

 protected:
  // False for a line that is no entry.
  virtual bool add(std::string_view line) = 0;

  // Whether there are host records whose names a dictionary has.
  bool has_host_records() const {
    for (const auto& file : import_.session.raw_files()) {
      const auto& stem = import_.session.name_of(file).stem;
      if (stem == "api_event" || stem == "task_track" || stem == "node_basic_info") return true;
    }
    return false;
  }

  CannImport& import_;
  std::size_t files_ = 0;

 private:
  std::string_view stem_;
};

class TypeInfoKind : public DictionaryKind {
 public:
  explicit TypeInfoKind(CannImport& import) : DictionaryKind(import, "type_info_dic") {}

  void finish(const ImportContext& context) override {
    if (files_ > 0 || !has_host_records()) return;
    context.report.add(FindingId::missing_dictionary, name(), "", "missing dictionary",
                       "without type_info_dic calls and tasks have numbers for names, and what "
                       "is told apart by those names is not recognised");
  }

 private:
  bool add(std::string_view line) override {
    const std::size_t colon = line.find(':');
    const std::size_t underscore = line.find('_');
    if (colon == std::string_view::npos || underscore >= colon) return false;
    std::uint64_t level = 0;
    std::uint64_t type = 0;
    if (!parse_u64(line.substr(0, underscore), level) || level > UINT32_MAX ||
        !parse_u64(line.substr(underscore + 1, colon - underscore - 1), type)) {
      return false;
    }
    import_.dictionaries.add_type(static_cast<std::uint32_t>(level), type,
                                  std::string(line.substr(colon + 1)));
    return true;
  }
};

class HashDicKind : public DictionaryKind {
 public:
  explicit HashDicKind(CannImport& import) : DictionaryKind(import, "hash_dic") {}

  void finish(const ImportContext& context) override {
    const std::uint64_t unknown = import_.dictionaries.unknown_hashes();
    if (unknown == 0) return;
    if (files_ == 0) {
      context.report.add(
          FindingId::missing_dictionary, name(), "", "missing dictionary",
          fmt::format("{} names are shown as numbers, for want of hash_dic", unknown));
    } else {
      context.report.add(FindingId::missing_names, name(), "", "names not in the dictionary",
                         "shown as numbers", static_cast<std::int64_t>(unknown));
    }
  }

 private:
  bool add(std::string_view line) override {
    const std::size_t colon = line.find(':');
    std::uint64_t hash = 0;
    if (colon == std::string_view::npos || !parse_u64(line.substr(0, colon), hash)) return false;
    import_.dictionaries.add_hash(hash, std::string(line.substr(colon + 1)));
    return true;
  }
};

}  // namespace

std::unique_ptr<RawKind> make_type_info_kind(CannImport& import) {
  return std::make_unique<TypeInfoKind>(import);
}

std::unique_ptr<RawKind> make_hash_dic_kind(CannImport& import) {
  return std::make_unique<HashDicKind>(import);
}

}  // namespace msprof::cann
