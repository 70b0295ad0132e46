// ImportReport collects the findings of an import and derives the verdict and the rows of
// `import_log` from them. Raw kinds fill it; verbs print it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "base/findings.hpp"
#include "store/layout_origin.hpp"
#include "store/trace_db_writer.hpp"
#include "store/unit_loads.hpp"

namespace msprof {

// The severity follows from the id (findings.def).
struct Finding {
  FindingId id{};
  std::string kind;
  std::string file;    // relative to the capture; empty for the whole capture
  std::string reason;  // fixed text: the same for the same cause
  std::int64_t count = 1;
  std::int64_t first_offset = kNull;  // byte offset in the file
  std::string detail;
  std::string lacks;  // data or columns missing because of this finding; else empty

  Severity severity() const { return finding_info(id).severity; }
  Category category() const { return finding_info(id).category; }
};

struct UnknownLayout {
  std::string kind;
  std::string file;
  std::uint64_t size_bytes = 0;
  std::vector<std::uint64_t> candidate_record_sizes;
};

// The layout used to read a board's records, and its source, for example "--layout".
struct LayoutUse {
  std::string file;
  std::string source;
};

// Returns the verdict for programs: "complete", "without" or "partial".
std::string_view verdict_name(Severity verdict);
// Returns the verdict for people: "complete", "complete without HBM bandwidth", "PARTIAL DATA".
std::string verdict_text(Severity verdict, const std::vector<std::string>& lacking);

class ImportReport {
 public:
  struct KindTotal {
    std::uint64_t files = 0;
    std::uint64_t records = 0;
  };

  void count_file(std::string_view kind, std::uint64_t records);
  // Merges findings with the same id, kind, file and reason; their counts are added.
  void add(Finding finding);
  // Adds a finding about a file, without an offset.
  void add(FindingId id, std::string_view kind, const std::string& file, std::string reason,
           std::string detail = "", std::int64_t count = 1);
  // Counts a damaged record that was left out.
  void skip_record(std::string_view kind, const std::string& file, std::string_view reason,
                   std::uint64_t offset);
  void add(UnknownLayout unknown);
  void set_unit_loads(UnitLoads unit_loads) { unit_loads_ = unit_loads; }
  UnitLoads unit_loads() const { return unit_loads_; }
  // Sets the chosen layout. layout() returns it only after note_layout() was called.
  void set_layout(LayoutUse layout) { layout_ = std::move(layout); }
  // Records that a file was read with the layout; the most severe origin is kept.
  void note_layout(LayoutOrigin origin) { layout_origin_ = std::max(layout_origin_, origin); }
  LayoutOrigin layout_origin() const { return layout_origin_; }
  // Returns null if no file was read with the user's layout.
  const LayoutUse* layout() const {
    return layout_origin_ == LayoutOrigin::known ? nullptr : &layout_;
  }

  // Returns the most severe finding: note (complete), without or partial.
  Severity verdict() const;
  bool is_partial() const { return verdict() == Severity::partial; }
  // Names of missing data, without duplicates, for example "HBM bandwidth".
  std::vector<std::string> lacking() const;
  bool mentions(const std::string& file) const;
  std::uint64_t files() const;
  std::uint64_t records() const;
  const std::vector<Finding>& findings() const { return findings_; }
  const std::vector<UnknownLayout>& unknown_layouts() const { return unknown_layouts_; }
  const std::map<std::string, KindTotal>& kinds() const { return kinds_; }

  void write_log(TraceDbWriter& store) const;
  // Report for a terminal; the last line is "verdict: ...".
  std::string text() const;
  nlohmann::ordered_json json() const;

 private:
  std::map<std::string, KindTotal> kinds_;
  std::vector<Finding> findings_;
  std::map<std::tuple<FindingId, std::string, std::string, std::string>, std::size_t>
      index_;                                  // id, kind, file, reason
  std::unordered_set<std::string> mentioned_;  // files
  std::vector<UnknownLayout> unknown_layouts_;
  UnitLoads unit_loads_ = UnitLoads::measured;
  LayoutUse layout_;
  LayoutOrigin layout_origin_ = LayoutOrigin::known;
};

}  // namespace msprof
