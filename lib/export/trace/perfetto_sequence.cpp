#include "export/trace/perfetto_sequence.hpp"

#include <charconv>
#include <cmath>

#include "base/number.hpp"
#include "base/text.hpp"
#include "export/trace/deflate.hpp"

namespace msprof::perfetto {

namespace {

constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // sequence_flags
constexpr std::uint64_t kBootClock = 6, kDeltaClock = 64;

// Number of texts that a sequence interns; further ones are written out each time.
constexpr std::size_t kMaxNames = 1 << 16;
constexpr std::size_t kMaxTexts = 1 << 12;
// Memory limit for the interned texts of a sequence.
constexpr std::size_t kMaxTextBytes = 16 << 20;

void put_clock(std::string& snapshot, std::uint64_t id, bool is_incremental) {
  const std::size_t clock = begin_message(snapshot, 1);
  put(snapshot, 1, id);
  put(snapshot, 2, std::uint64_t{0});
  if (is_incremental) put(snapshot, 3, std::uint64_t{1});
  end_message(snapshot, clock);
}

}  // namespace

Number to_number(const TraceValue& value) {
  using Kind = TraceValue::Kind;
  if (value.kind == Kind::integer) return {value.integer, {}};
  if (value.kind == Kind::real && std::isfinite(value.real)) return {{}, value.real};
  if (value.kind == Kind::duration) return {{}, static_cast<double>(value.integer) / 1000};
  if (value.kind != Kind::decimal && value.kind != Kind::text) return {};
  const std::string_view digits = value.text.view();
  const char* const end = digits.data() + digits.size();
  std::int64_t integer = 0;
  if (const auto read = std::from_chars(digits.data(), end, integer);
      read.ec == std::errc() && read.ptr == end)
    return {integer, {}};
  double real = 0;
  if (const auto read = std::from_chars(digits.data(), end, real);
      read.ec == std::errc() && read.ptr == end)
    return {{}, real};
  return {};
}

void PacketBlocks::flush() {
  if (packets_.empty()) return;
  std::string& block = blocks_.emplace_back();
  const std::size_t packet = begin_message(block, 1);
  put(block, packet::kCompressedPackets, deflate(packets_, DeflateForm::zlib));
  end_message(block, packet);
  packets_.clear();
}

std::size_t PacketBlocks::bytes() const {
  std::size_t bytes = 0;
  for (const std::string& block : blocks_) bytes += block.size();
  return bytes;
}

InternedTexts::Entry* InternedTexts::find(std::string_view text, std::string& data) {
  const auto known = ids_.find(text);
  if (known != ids_.end()) return &*known;
  if (ids_.size() >= most_ || bytes_ + text.size() > kMaxTextBytes) return nullptr;
  const auto added = ids_.emplace(std::string(text), ids_.size() + 1).first;
  bytes_ += text.size();
  const std::size_t entry = begin_message(data, field_);
  put(data, 1, added->second);
  put(data, 2, valid_utf8(text));
  end_message(data, entry);
  return &*added;
}

void Sequence::put_start(std::string& packets, std::uint64_t number, std::uint64_t track) {
  const std::size_t start = begin_message(packets, 1);
  const std::size_t snapshot = begin_message(packets, packet::kClockSnapshot);
  put_clock(packets, kBootClock, false);
  put_clock(packets, kDeltaClock, true);
  end_message(packets, snapshot);
  put(packets, packet::kSequence, number);
  put(packets, packet::kSequenceFlags, kStateCleared);
  const std::size_t defaults = begin_message(packets, packet::kDefaults);
  const std::size_t event = begin_message(packets, packet::kTrackEvent);
  put(packets, event::kTrack, track);
  end_message(packets, event);
  put(packets, packet::kTimestampClock, kDeltaClock);
  end_message(packets, defaults);
  end_message(packets, start);
}

Sequence::Sequence(PacketBlocks& out, std::uint64_t number)
    : out_(out),
      number_(number),
      names_(interned::kEventName, kMaxNames),
      keys_(interned::kAnnotationName, kMaxTexts),
      texts_(interned::kAnnotationText, kMaxTexts) {}

void Sequence::append_name(std::string& event, std::string_view text) {
  if (const std::uint64_t id = names_.id(text, data_); id != 0) {
    put(event, event::kNameId, id);
  } else {
    put(event, event::kName, valid_utf8(text));
  }
}

void Sequence::append_arguments(std::string& event, std::span<const TraceArgument> arguments) {
  for (const TraceArgument& one : arguments) {
    const std::size_t start = begin_message(event, event::kAnnotation);
    if (const std::uint64_t id = keys_.id(one.key.view(), data_); id != 0) {
      put(event, annotation::kNameId, id);
    } else {
      put(event, annotation::kName, valid_utf8(one.key.view()));
    }
    append_value(event, one.value);
    end_message(event, start);
  }
}

void Sequence::append_arguments(std::string& event, const SharedArguments& shared) {
  encoded_.resize(kEncoded);
  EncodedArguments& known =
      encoded_[reinterpret_cast<std::uintptr_t>(&shared) / sizeof(SharedArguments) % kEncoded];
  if (known.json != shared.json()) {
    known.json = shared.json();
    known.fields.clear();
    shared.for_each([&](const TraceArgument& one) { append_arguments(known.fields, {&one, 1}); });
  }
  event += known.fields;
}

void Sequence::write(std::int64_t time_ns, std::string_view event) {
  std::string& out = out_.packets();
  const std::size_t start = begin_message(out, 1);
  if (time_ns >= clock_ns_) {
    put(out, packet::kTimestamp,
        static_cast<std::uint64_t>(time_ns) - static_cast<std::uint64_t>(clock_ns_));
    clock_ns_ = time_ns;
  } else {
    put(out, packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
    put(out, packet::kTimestampClock, kBootClock);
  }
  put(out, packet::kSequence, number_);
  put(out, packet::kSequenceFlags, kNeedsState);
  if (!data_.empty()) put(out, packet::kInternedData, data_);
  put(out, packet::kTrackEvent, event);
  end_message(out, start);
  out_.end_packet();
  has_packet_ = true;
  data_.clear();
}

void Sequence::append_value(std::string& out, const TraceValue& value) {
  using Kind = TraceValue::Kind;
  switch (value.kind) {
    case Kind::text:
      return append_text(out, value.text.view());
    case Kind::time:
      return append_text(out, us_from_ns(value.integer));
    case Kind::integer:
      return put(out, annotation::kInteger, static_cast<std::uint64_t>(value.integer));
    case Kind::real:
      if (std::isfinite(value.real)) return put_real(out, annotation::kReal, value.real);
      return put(out, annotation::kJson, "null");
    default:
      break;
  }
  const Number number = to_number(value);
  if (number.integer) {
    put(out, annotation::kInteger, static_cast<std::uint64_t>(*number.integer));
  } else if (number.real) {
    put_real(out, annotation::kReal, *number.real);
  } else {
    append_text(out, value.text.view());
  }
}

void Sequence::append_text(std::string& out, std::string_view text) {
  if (const std::uint64_t id = texts_.id(text, data_); id != 0) {
    put(out, annotation::kTextId, id);
  } else {
    put(out, annotation::kText, valid_utf8(text));
  }
}

}  // namespace msprof::perfetto
