#include "import/old/text_entries.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace msprof::old {

namespace {

constexpr std::size_t kMaxEntryBytes = std::size_t{1} << 20;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

class EntryReader {
 public:
  EntryReader(const ImportContext& context, std::string_view kind, EntryForm form,
              const TakeEntry& take)
      : context_(context), kind_(kind), form_(form), take_(take) {}

  void read(const RawFile& file) {
    file_ = &file;
    records_ = 0;
    offset_ = 0;
    try {
      FileReader reader(file.path);
      std::vector<std::byte> buffer(kReadBytes);
      std::size_t count = kReadBytes;
      while (count == kReadBytes) {
        interrupt::check();
        count = reader.read(buffer);
        for (std::size_t i = 0; i < count; ++i, ++offset_) add(std::to_integer<char>(buffer[i]));
      }
    } catch (const Error& error) {
      if (error.code() != Exit::partial_data) throw;
      context_.report.add(FindingId::unreadable_file, kind_, file.name, "unreadable", error.what());
    }
    context_.report.count_file(kind_, records_);
  }

  void finish() {
    const std::string_view rest = trim(entry_);
    if (rest.empty() || file_ == nullptr) return;
    // The last entry may be complete even without its NUL. The last number of a line may be cut
    // off.
    const bool is_taken = form_ == EntryForm::nul && !is_too_long_ && take_(rest).empty();
    if (is_taken) {
      context_.report.count_file(kind_, 0);
      return;
    }
    context_.report.add({FindingId::trailing_bytes, std::string(kind_), begin_file_,
                         "incomplete record at the end", static_cast<std::int64_t>(entry_.size()),
                         static_cast<std::int64_t>(begin_), "", ""});
  }

 private:
  void add(char c) {
    if (entry_.empty()) {
      begin_ = offset_;
      begin_file_ = file_->name;
    }
    form_ == EntryForm::json ? add_json(c) : add_text(c);
  }

  void add_text(char c) {
    if (c == (form_ == EntryForm::nul ? '\0' : '\n')) return end();
    if (entry_.size() < kMaxEntryBytes) {
      entry_ += c;
    } else {
      is_too_long_ = true;
    }
  }

  // Ignores commas and blanks between objects.
  void add_json(char c) {
    if (depth_ == 0 && c != '{') return;
    if (entry_.size() < kMaxEntryBytes) {
      entry_ += c;
    } else {
      is_too_long_ = true;
    }
    if (is_in_text_) {
      is_in_text_ = is_escaped_ || c != '"';
      is_escaped_ = !is_escaped_ && c == '\\';
      return;
    }
    is_in_text_ = c == '"';
    if (c == '{') ++depth_;
    if (c == '}' && --depth_ == 0) end();
  }

  void end() {
    const std::string_view entry = trim(entry_);
    std::string_view reason;
    if (is_too_long_) {
      reason = "entry longer than 1 MB";
    } else if (!entry.empty()) {
      reason = take_(entry);
      if (reason.empty()) ++records_;
    }
    if (!reason.empty()) context_.report.skip_record(kind_, begin_file_, reason, begin_);
    entry_.clear();
    is_too_long_ = false;
  }

  const ImportContext& context_;
  std::string_view kind_;
  EntryForm form_;
  const TakeEntry& take_;
  const RawFile* file_ = nullptr;
  std::uint64_t records_ = 0;
  std::uint64_t offset_ = 0;
  std::string entry_;
  std::uint64_t begin_ = 0;  // offset of the entry in the file in which it starts
  std::string begin_file_;
  bool is_too_long_ = false;
  std::size_t depth_ = 0;
  bool is_in_text_ = false;
  bool is_escaped_ = false;
};

}  // namespace

void read_entries(const ImportContext& context, std::string_view kind,
                  const std::vector<const RawFile*>& slices, EntryForm form,
                  const TakeEntry& take) {
  EntryReader reader(context, kind, form, take);
  for (const RawFile* file : slices) reader.read(*file);
  reader.finish();
}

std::string first_bytes(const std::vector<const RawFile*>& slices, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (const RawFile* file : slices) {
    try {
      FileReader reader(file->path);
      const std::size_t there = reader.read(bytes);
      if (there == 0) continue;
      std::string text;
      for (std::size_t i = 0; i < there; ++i) text += std::to_integer<char>(bytes[i]);
      return text;
    } catch (const Error& error) {
      if (error.code() != Exit::partial_data) throw;
    }
  }
  return {};
}

}  // namespace msprof::old
