#include "import/cann/dictionaries.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "import/cann/cann_import.hpp"

namespace msprof::cann {

namespace {

constexpr std::size_t kDictionaryReadBytes = std::size_t{1} << 18;

// Base of type_info_dic, with lines `<level>_<type>:<name>`, and hash_dic, with lines
// `<hash>:<text>`. Numbers are decimal; the files have no header.
class DictionaryKind : public RawKind {
 public:
  DictionaryKind(CannImport& import, std::string_view stem) : import_(import), stem_(stem) {}

  std::string_view name() const override { return stem_; }
  bool owns(const RawFile& file) const override {
    return import_.session.parsed_name(file).stem == stem_;
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
  virtual bool add(std::string_view line) = 0;

  // Returns true if there are host records whose names need a dictionary.
  bool has_host_records() const {
    for (const auto& file : import_.session.raw_files()) {
      const auto& stem = import_.session.parsed_name(file).stem;
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
                       "without type_info_dic, calls and tasks have numbers instead of names, and "
                       "records identified by these names are not recognized");
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
          fmt::format("{} shown as numbers, because hash_dic is missing",
                      unknown == 1 ? "1 name is" : fmt::format("{} names are", unknown)));
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

void Dictionaries::add_type(std::uint32_t level, std::uint64_t type, std::string name) {
  types_[level].insert_or_assign(type, std::move(name));
}

void Dictionaries::add_hash(std::uint64_t hash, std::string text) {
  hashes_.insert_or_assign(hash, std::move(text));
}

std::optional<std::string_view> Dictionaries::find_type_name(std::uint32_t level,
                                                             std::uint64_t type) const {
  const auto of_level = types_.find(level);
  if (of_level == types_.end()) return std::nullopt;
  const auto found = of_level->second.find(type);
  if (found != of_level->second.end()) return found->second;
  // Older runtimes leave these two types out of their dictionary.
  constexpr std::uint64_t kDynamicEnable = 27;
  constexpr std::uint64_t kDynamicDisable = 28;
  if (type == kDynamicEnable) return "DYNAMIC_ENABLE";
  if (type == kDynamicDisable) return "DYNAMIC_DISABLE";
  return std::nullopt;
}

std::string Dictionaries::type_name(std::uint32_t level, std::uint64_t type) const {
  const auto known = find_type_name(level, type);
  return known ? std::string(*known) : std::to_string(type);
}

std::optional<std::string_view> Dictionaries::find_hash_text(std::uint64_t hash) const {
  const auto found = hashes_.find(hash);
  if (found == hashes_.end()) return std::nullopt;
  return found->second;
}

std::string Dictionaries::hash_text(std::uint64_t hash) const {
  const auto known = find_hash_text(hash);
  return known ? std::string(*known) : std::to_string(hash);
}

std::int64_t Dictionaries::hash_name_id(TraceDbWriter& store, std::uint64_t hash) {
  const auto [at, is_new] = name_ids_.try_emplace(hash, 0);
  if (!is_new) return at->second;
  const auto known = find_hash_text(hash);
  if (!known && hash != 0) ++unknown_hashes_;
  at->second = known ? store.name_id(*known) : store.name_id(std::to_string(hash));
  return at->second;
}

LineReader::LineReader(const std::filesystem::path& path, char separator)
    : reader_(path), separator_(separator) {}

// Appends more bytes to the buffer; returns false at the end of the file.
bool LineReader::fill() {
  interrupt::check();
  if (is_at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // For a long line the buffer grows by half its size at a time.
  if (buffer_.size() - end_ < kDictionaryReadBytes)
    buffer_.resize(end_ + end_ / 2 + kDictionaryReadBytes);
  const auto room = std::as_writable_bytes(std::span(buffer_)).subspan(end_);
  const std::size_t count = reader_.read(room);
  end_ += count;
  is_at_end_ = count < room.size();
  return count > 0;
}

std::optional<LineReader::Line> LineReader::next() {
  Line line{{}, offset_, false};
  std::size_t looked = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t there = end_ - begin_;
    const void* found =
        there > looked ? std::memchr(start + looked, separator_, there - looked) : nullptr;
    const bool ends = found != nullptr;
    if (!ends && !line.is_too_long && there <= kMaxLineBytes && fill()) {
      looked = there;
      continue;
    }
    const std::size_t length =
        ends ? static_cast<std::size_t>(static_cast<const char*>(found) - start) : there;
    const std::size_t used = ends ? length + 1 : length;
    begin_ += used;
    offset_ += used;
    if (length > kMaxLineBytes) line.is_too_long = true;
    // Skips the rest of a line that is too long, one buffer at a time.
    if (!ends && line.is_too_long && fill()) {
      looked = 0;
      continue;
    }
    if (used == 0 && !line.is_too_long) return std::nullopt;
    if (!line.is_too_long) line.text = std::string_view(start, length);
    return line;
  }
}

std::unique_ptr<RawKind> make_type_info_kind(CannImport& import) {
  return std::make_unique<TypeInfoKind>(import);
}

std::unique_ptr<RawKind> make_hash_dic_kind(CannImport& import) {
  return std::make_unique<HashDicKind>(import);
}

}  // namespace msprof::cann
