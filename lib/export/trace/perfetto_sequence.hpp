// Packets of a Perfetto trace: fields, blocks of packets, and sequences of packets with events. For
// PerfettoWriter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_map.hpp"
#include "export/trace/protobuf_fields.hpp"
#include "export/trace/trace_writer.hpp"

namespace msprof::perfetto {

using protobuf::begin_message;
using protobuf::end_message;
using protobuf::put;
using protobuf::put_real;

// Protobuf field numbers.
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInternedData = 12,
                        kSequenceFlags = 13, kClockSnapshot = 6, kCompressedPackets = 50,
                        kTimestampClock = 58, kDefaults = 59, kTrackDescriptor = 60;
}
namespace event {
constexpr std::uint32_t kAnnotation = 4, kType = 9, kNameId = 10, kCategory = 22, kName = 23,
                        kTrack = 11, kCounterValue = 30, kFlow = 36, kLastFlow = 42,
                        kCounterReal = 44;
}
namespace annotation {
constexpr std::uint32_t kNameId = 1, kInteger = 4, kReal = 5, kText = 6, kJson = 9, kName = 10,
                        kTextId = 17;
}
namespace interned {
constexpr std::uint32_t kEventName = 2, kAnnotationName = 3, kAnnotationText = 29;
}
namespace track {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8,
                        kChildOrdering = 11, kRank = 12;
}
namespace process {
constexpr std::uint32_t kPid = 1, kSortIndex = 3, kName = 6, kLabels = 8;
}

constexpr std::uint64_t kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4;  // TrackEvent.type

// A number in the field that fits; empty if the value is none.
struct Number {
  std::optional<std::int64_t> integer;
  std::optional<double> real;
};
Number to_number(const TraceValue& value);

// Packets, compressed in blocks.
class PacketBlocks {
 public:
  // Append a packet as field 1, then call end_packet().
  std::string& packets() { return packets_; }
  void end_packet() {
    if (packets_.size() >= kBlockBytes) flush();
  }
  void flush();
  // Returns the blocks as bytes of a trace. Call flush() before.
  const std::vector<std::string>& blocks() const { return blocks_; }
  std::size_t bytes() const;  // of the blocks

 private:
  static constexpr std::size_t kBlockBytes = 256 << 10;
  std::string packets_;
  std::vector<std::string> blocks_;
};

// Interned texts of one kind in a packet sequence.
class InternedTexts {
 public:
  InternedTexts(std::uint32_t field, std::size_t most) : field_(field), most_(most) {}
  // A copy would point to the entries of this one.
  InternedTexts(InternedTexts&&) = default;

  // Returns the id of a text and appends a new one to `data`, an InternedData. Returns 0 if there
  // are too many texts.
  std::uint64_t id(std::string_view text, std::string& data) {
    Entry*& near = near_[reinterpret_cast<std::uintptr_t>(text.data()) / 8 % kNear];
    if (near == nullptr || near->first != text) near = find(text, data);
    return near == nullptr ? 0 : near->second;
  }

 private:
  using Entry = TextMap<std::uint64_t>::value_type;
  Entry* find(std::string_view text, std::string& data);

  static constexpr std::size_t kNear = 256;
  std::uint32_t field_;
  std::size_t most_;
  std::size_t bytes_ = 0;
  TextMap<std::uint64_t> ids_;
  std::array<Entry*, kNear> near_{};  // by address, because most texts keep theirs
};

// A packet sequence with the events of one track. It has its own interned texts and its own clock;
// timestamps are deltas to the previous packet.
class Sequence {
 public:
  // Clears the state of the sequence, and sets its track and its clock, which starts at 0.
  static void put_start(std::string& packets, std::uint64_t number, std::uint64_t track);

  // The file must have a packet of put_start() before those of `out`.
  Sequence(PacketBlocks& out, std::uint64_t number);

  std::uint64_t number() const { return number_; }
  // Time of the last packet in order; INT64_MIN before the first.
  std::int64_t clock_ns() const { return has_packet_ ? clock_ns_ : INT64_MIN; }

  // Append fields to a TrackEvent.
  void append_name(std::string& event, std::string_view text);
  void append_arguments(std::string& event, std::span<const TraceArgument> arguments);
  void append_arguments(std::string& event, const SharedArguments& shared);

  // Writes a packet with a TrackEvent and the texts it interns.
  void write(std::int64_t time_ns, std::string_view event);

 private:
  struct EncodedArguments {
    std::string json;  // identifies them
    std::string fields;
  };

  void append_value(std::string& out, const TraceValue& value);
  void append_text(std::string& out, std::string_view text);

  PacketBlocks& out_;
  std::uint64_t number_;
  bool has_packet_ = false;
  std::int64_t clock_ns_ = 0;
  InternedTexts names_;
  InternedTexts keys_;
  InternedTexts texts_;
  std::string data_;  // InternedData of the next packet
  static constexpr std::size_t kEncoded = 64;
  std::vector<EncodedArguments> encoded_;  // by address
};

}  // namespace msprof::perfetto
