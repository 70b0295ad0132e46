// ImportReport: what an import found, counted by reason; the verdict that the user reads, and the
// rows of `import_log`. For the kinds, which fill it, and the verbs, which print it.
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

// Severity comes from the id (findings.def).
struct Finding {
  FindingId id{};
  std::string kind;
  std::string file;    // relative to the capture; empty: the capture as a whole
  std::string reason;  // a few fixed words, the same for the same cause
  std::int64_t count = 1;
  std::int64_t first_offset = kNull;  // byte in the file
  std::string detail;
  std::string lacks;  // where that depends on the finding: data that files would give, columns

  Severity severity() const { return finding_info(id).severity; }
  Category category() const { return finding_info(id).category; }
};

// Adds a data file whose record layout is unknown.
struct UnknownLayout {
  std::string kind;
  std::string file;
  std::uint64_t size_bytes = 0;
  std::vector<std::uint64_t> candidate_record_sizes;
};

// The layout that records of a board are read with, and where it came from: "--layout".
struct LayoutUse {
  std::string file;
  std::string source;
};

// A verdict as programs read it: "complete", "without", "partial".
std::string_view verdict_name(Severity verdict);
// Verdict in words: "complete", "complete without HBM bandwidth", "PARTIAL DATA".
std::string verdict_text(Severity verdict, const std::vector<std::string>& lacking);

class ImportReport {
 public:
  struct KindTotal {
    std::uint64_t files = 0;
    std::uint64_t records = 0;
  };

  void count_file(std::string_view kind, std::uint64_t records);
  // Findings with the same id, kind, file and reason become one, their counts added.
  void add(Finding finding);
  // Adds a plain finding about a file.
  void add(FindingId id, std::string_view kind, const std::string& file, std::string reason,
           std::string detail = "", std::int64_t count = 1);
  // Counts a damaged record, left out.
  void skip_record(std::string_view kind, const std::string& file, std::string_view reason,
                   std::uint64_t offset);
  void add(UnknownLayout unknown);
  void set_unit_loads(UnitLoads unit_loads) { unit_loads_ = unit_loads; }
  UnitLoads unit_loads() const { return unit_loads_; }
  // The layout at hand; it counts from the first file that is read with it.
  void set_layout(LayoutUse layout) { layout_ = std::move(layout); }
  // A file was read with it; the gravest origin counts.
  void note_layout(LayoutOrigin origin) { layout_origin_ = std::max(layout_origin_, origin); }
  LayoutOrigin layout_origin() const { return layout_origin_; }
  // Null: no file was read with a layout of the user's.
  const LayoutUse* layout() const {
    return layout_origin_ == LayoutOrigin::known ? nullptr : &layout_;
  }

  // Gravest severity of all findings: note (complete), without or partial.
  Severity verdict() const;
  bool partial() const { return verdict() == Severity::partial; }
  // Data that a complete profile would have beyond this one, each once: "HBM bandwidth".
  std::vector<std::string> lacking() const;
  bool mentions(const std::string& file) const;
  std::uint64_t files() const;
  std::uint64_t records() const;
  const std::vector<Finding>& findings() const { return findings_; }
  const std::vector<UnknownLayout>& unknown_layouts() const { return unknown_layouts_; }
  const std::map<std::string, KindTotal>& kinds() const { return kinds_; }

  void write_log(TraceDbWriter& store) const;
  // Verdict as lines for a terminal; the last one is "verdict: ...".
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
