// Raw kind stars_soc_profile.data: samples of the SoC by the STARS scheduler: bandwidth and
// outstanding commands of accelerators (Acc PMU), bandwidth levels between SoCs, traffic between
// dies (SIO), and traffic over PA links and PCIe; on chips 15 and 16 also QoS and die frequencies.
// A record is one sample of one subject. Source: cann_system.md 13, 22; cann_device.md 5.1.
#include <fmt/format.h>

#include "import/cann/counters/time_order.hpp"
#include "import/cann/counters/track_groups.hpp"
#include "wire/cann/device_wire.hpp"

namespace msprof::cann {

namespace {

enum SocFunction : unsigned {
  kSocQos = 24,
  kSocSio = 25,
  kSocAccPmu = 26,
  kSocChipTrans = 27,
  kSocLevels = 28,
  kSocLowPower = 29,
};
constexpr std::size_t kSocFunctions = 64;

struct __attribute__((packed)) SocHead {
  std::uint16_t head;  // bits 0 to 5: function; 10 to 15: die or transmission type
  std::uint16_t magic;
  std::uint32_t reserved_4;
  std::uint64_t ticks;

  unsigned function() const { return head & 0x3FU; }
  std::uint16_t upper() const { return static_cast<std::uint16_t>(head >> 10U); }
};

struct __attribute__((packed)) SocWire {
  SocHead head;
  std::uint8_t rest[48];
};
static_assert(sizeof(SocWire) == 64);

struct __attribute__((packed)) AccPmuWire {
  SocHead head;
  std::uint16_t reserved_16;
  std::uint16_t accelerator;
  std::uint32_t reserved_20[3];
  std::uint64_t values[4];  // in the order of kAccCounters
};
static_assert(sizeof(AccPmuWire) == 64);

struct __attribute__((packed)) InterSocWire {
  SocHead head;
  std::uint32_t reserved_16[4];
  std::uint16_t level;  // bits 0 to 2: MATA; 3 to 10: L2 buffer
  std::uint8_t reserved_34[30];
};
static_assert(sizeof(InterSocWire) == 64);

struct __attribute__((packed)) SioWire {
  SocHead head;
  std::uint16_t reserved_16;
  std::uint16_t die;
  std::uint32_t reserved_20[3];
  std::uint32_t bytes[8];  // since the previous sample; in the order of kSioCounters
};
static_assert(sizeof(SioWire) == 64);

// The die number is in the head.
struct __attribute__((packed)) LaterSioWire {
  SocHead head;
  std::uint64_t reserved_16;
  std::uint32_t reserved_24;
  std::uint32_t received[4];
  std::uint32_t reserved_44;
  std::uint32_t sent[4];
};
static_assert(sizeof(LaterSioWire) == 64);

struct __attribute__((packed)) ChipTransWire {
  SocHead head;
  std::uint16_t reserved_16;
  std::uint16_t id;  // 6 bits
  std::uint32_t reserved_20[3];
  std::uint64_t values[2];  // PA link: received, sent; PCIe: written, read
  std::uint32_t reserved_48[4];
};
static_assert(sizeof(ChipTransWire) == 64);

struct __attribute__((packed)) LaterChipTransWire {
  SocHead head;
  std::uint64_t values[2];  // written, read; all ones: not measured
  std::uint32_t reserved_32[8];
};
static_assert(sizeof(LaterChipTransWire) == 64);

struct __attribute__((packed)) SocQosWire {
  SocHead head;
  std::uint64_t reserved_16;
  std::uint32_t reserved_24[2];
  std::uint32_t bandwidth[8];  // MB/s
};
static_assert(sizeof(SocQosWire) == 64);

struct __attribute__((packed)) LowPowerWire {
  SocHead head;
  std::uint64_t reserved_16;
  std::uint16_t samples[20];  // swapped in pairs: the first sample is samples[1]
};
static_assert(sizeof(LowPowerWire) == 64);

constexpr std::string_view kAccCounters[] = {"write_bandwidth", "read_bandwidth", "write_ost",
                                             "read_ost"};
constexpr std::string_view kSioCounters[] = {"req_rx", "rsp_rx", "snp_rx", "dat_rx",
                                             "req_tx", "rsp_tx", "snp_tx", "dat_tx"};
constexpr std::uint16_t kPaLinkType = 63;
constexpr std::uint16_t kPcieType = 34;

bool is_soc_record(std::span<const std::byte> record) {
  return decode<SocHead>(record).magic == kDeviceMagic;
}

constexpr RecordFormat kSocFormat{"stars_soc_profile", sizeof(SocWire), is_soc_record};

std::string sio_die(unsigned die, bool is_later) {
  if (is_later && die == 0) return "D-DIE0";
  if (is_later && (die == 2 || die == 3)) return fmt::format("U-DIE{}", die - 2);
  return fmt::format("die {}", die);
}

class SocSamples {
 public:
  SocSamples(CannImport& import, const ImportContext& context, const CannPart& part)
      : context_(context),
        part_(part),
        is_later_(import.session.chip() && import.session.chip()->family == ChipFamily::stars_v6),
        acc_pmu_(import, context, "acc_pmu"),
        stars_soc_(import, context, "stars_soc"),
        chip_trans_(import, context, "stars_chip_trans"),
        sio_(import, context, "sio"),
        qos_(import, context, "qos"),
        low_power_(import, context, "low_power") {}

  void take(const SocWire& wire, std::int64_t time_ns, std::uint64_t offset) {
    const std::span<const std::byte> record(reinterpret_cast<const std::byte*>(&wire),
                                            sizeof(wire));
    const auto function = wire.head.function();
    bool has_room = true;
    if (function == kSocAccPmu) {
      has_room = take_acc_pmu(decode<AccPmuWire>(record), time_ns);
    } else if (function == kSocLevels) {
      take_inter_soc(decode<InterSocWire>(record), time_ns);
    } else if (function == kSocSio) {
      has_room = take_sio(record, time_ns, offset);
    } else if (function == kSocChipTrans && is_later_) {
      take_later_chip_trans(decode<LaterChipTransWire>(record), time_ns);
    } else if (function == kSocChipTrans) {
      take_chip_trans(decode<ChipTransWire>(record), time_ns);
    } else if (function == kSocQos && is_later_) {
      take_qos(decode<SocQosWire>(record), time_ns);
    } else if (function == kSocLowPower && is_later_) {
      take_low_power(decode<LowPowerWire>(record), time_ns);
    } else {
      ++others_[function];
    }
    if (!has_room) context_.report.skip_record(kSocFormat.kind, part_.name, kTooMany, offset);
  }

  void finish() {
    for (unsigned function = 0; function < kSocFunctions; ++function)
      tell_others("function", function, others_[function]);
    for (unsigned type = 0; type < kSocFunctions; ++type)
      tell_others("transmission type", type, other_types_[type]);
    if (nameless_qos_ > 0)
      context_.report.add(FindingId::events_not_said, kSocFormat.kind, part_.name,
                          "unknown QoS events", "sample.json has no qosEvents", nameless_qos_);
    for (CounterTracks* tracks : {&acc_pmu_, &stars_soc_, &chip_trans_, &sio_, &qos_, &low_power_})
      tracks->write();
  }

 private:
  struct Lane {
    std::size_t track = 0;  // first track of the group
    std::int64_t last_ns = kNull;
  };

  void tell_others(std::string_view what, unsigned number, std::int64_t count) {
    if (count == 0) return;
    context_.report.add(FindingId::unread_records, kSocFormat.kind, part_.name,
                        fmt::format("records of {} {} present, not read", what, number), "", count);
  }

  TrackName name(std::string_view subject, std::string_view counter, std::int64_t number) const {
    return {.device = part_.device,
            .subject = subject,
            .counter = counter,
            .unit = {},
            .number = number};
  }

  bool take_acc_pmu(const AccPmuWire& wire, std::int64_t time_ns) {
    const std::uint16_t accelerator = wire.accelerator;
    const Lane* lane = accelerators_.find(accelerator, [&] {
      const std::string subject = fmt::format("Acc PMU {}", accelerator);
      const Lane made{.track = acc_pmu_.next()};
      for (const std::string_view counter : kAccCounters)
        acc_pmu_.open(name(subject, counter, accelerator));
      return made;
    });
    if (lane == nullptr) return false;
    for (std::size_t i = 0; i < std::size(kAccCounters); ++i)
      acc_pmu_.add(lane->track + i, time_ns, sample_value(wire.values[i]));
    return true;
  }

  void take_inter_soc(const InterSocWire& wire, std::int64_t time_ns) {
    if (!levels_) {
      levels_ = stars_soc_.open(name("SoC", "L2 Buffer Bw Level", kNull));
      stars_soc_.open(name("SoC", "Mata Bw Level", kNull));
    }
    stars_soc_.add(*levels_, time_ns, wire.level >> 3U & 0xFFU);
    stars_soc_.add(*levels_ + 1, time_ns, wire.level & 0x7U);
  }

  bool take_sio(std::span<const std::byte> record, std::int64_t time_ns, std::uint64_t offset) {
    std::uint32_t bytes[8];
    std::uint16_t die = 0;
    if (is_later_) {
      const auto wire = decode<LaterSioWire>(record);
      die = wire.head.upper();
      for (std::size_t i = 0; i < 4; ++i) {
        bytes[i] = wire.received[i];
        bytes[i + 4] = wire.sent[i];
      }
    } else {
      const auto wire = decode<SioWire>(record);
      die = wire.die;
      for (std::size_t i = 0; i < 8; ++i) bytes[i] = wire.bytes[i];
    }
    Lane* lane = dies_.find(die, [&] {
      const std::string subject = "SIO " + sio_die(die, is_later_);
      const Lane made{.track = sio_.next()};
      for (const std::string_view counter : kSioCounters) {
        TrackName track = name(subject, counter, die);
        track.unit = "MB/s";
        track.divisor = kMegabyte;
        track.is_rate = true;
        sio_.open(track);
      }
      return made;
    });
    if (lane == nullptr) return false;
    if (lane->last_ns == time_ns) {
      context_.report.skip_record(kSocFormat.kind, part_.name, kNoInterval, offset);
      return true;
    }
    // The first sample only starts an interval, as the start of its own interval is unknown.
    if (lane->last_ns != kNull) {
      for (std::size_t i = 0; i < std::size(kSioCounters); ++i)
        sio_.add(lane->track + i, lane->last_ns, time_ns, bytes[i]);
    }
    lane->last_ns = time_ns;
    return true;
  }

  void take_chip_trans(const ChipTransWire& wire, std::int64_t time_ns) {
    const std::uint16_t type = wire.head.upper();
    if (type != kPaLinkType && type != kPcieType) {
      ++other_types_[type];
      return;
    }
    const bool is_link = type == kPaLinkType;
    const auto id = static_cast<std::uint16_t>(wire.id & 0x3FU);
    std::optional<std::size_t>& track = transmissions_[is_link ? 0 : 1][id];
    if (!track) {
      const std::string subject = fmt::format("{} {}", is_link ? "PA Link" : "PCIE", id);
      TrackName first = name(subject, is_link ? "PA Link Rx" : "PCIE Write Bandwidth", id);
      TrackName second = name(subject, is_link ? "PA Link Tx" : "PCIE Read Bandwidth", id);
      first.part = second.part = type;
      track = chip_trans_.open(first);
      chip_trans_.open(second);
    }
    for (std::size_t i = 0; i < 2; ++i)
      chip_trans_.add(*track + i, time_ns, sample_value(wire.values[i]));
  }

  void take_later_chip_trans(const LaterChipTransWire& wire, std::int64_t time_ns) {
    const std::uint16_t die = wire.head.upper();
    std::optional<std::size_t>& track = transmissions_[1][die];
    if (!track) {
      const std::string subject = fmt::format("U-Die{}", die);
      track = chip_trans_.open(name(subject, "PCIE Write Bandwidth", die));
      chip_trans_.open(name(subject, "PCIE Read Bandwidth", die));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      if (wire.values[i] != UINT64_MAX)
        chip_trans_.add(*track + i, time_ns, sample_value(wire.values[i]));
    }
  }

  void take_qos(const SocQosWire& wire, std::int64_t time_ns) {
    const std::vector<std::string>& names = part_.info.qos_events;
    if (names.empty()) {
      ++nameless_qos_;
      return;
    }
    const std::size_t count = std::min(names.size(), std::size(wire.bandwidth));
    const std::uint16_t die = wire.head.upper();
    std::optional<std::size_t>& first_track = qos_dies_[die];
    if (!first_track) {
      first_track = qos_.next();
      for (std::size_t i = 0; i < count; ++i) {
        const std::string subject = "QoS " + names[i];
        TrackName event = name(subject, "Bandwidth", static_cast<std::int64_t>(i));
        event.unit = "MB/s";
        event.part = die;
        qos_.open(event);
      }
    }
    for (std::size_t i = 0; i < count; ++i) qos_.add(*first_track + i, time_ns, wire.bandwidth[i]);
  }

  void take_low_power(const LowPowerWire& wire, std::int64_t time_ns) {
    const std::uint16_t die = wire.head.upper();
    std::optional<std::size_t>& track = power_dies_[die];
    if (!track) {
      const std::string subject = fmt::format("Die {}", die);
      const std::string counter = fmt::format("AI Core Freq Die {}", die);
      TrackName frequency = name(subject, counter, die);
      frequency.unit = "MHz";
      track = low_power_.open(frequency);
    }
    low_power_.add(*track, time_ns, wire.samples[1]);
  }

  const ImportContext& context_;
  const CannPart& part_;
  bool is_later_;  // chips 15 and 16
  CounterTracks acc_pmu_;
  CounterTracks stars_soc_;
  CounterTracks chip_trans_;
  CounterTracks sio_;
  CounterTracks qos_;
  CounterTracks low_power_;
  TrackGroups<Lane> accelerators_{std::size(kAccCounters)};
  TrackGroups<Lane> dies_{std::size(kSioCounters)};
  std::optional<std::size_t> levels_;
  // First tracks, indexed by a 6-bit number.
  using ByNumber = std::array<std::optional<std::size_t>, 64>;
  std::array<ByNumber, 2> transmissions_;  // PA links, PCIe
  ByNumber qos_dies_;
  ByNumber power_dies_;
  std::array<std::int64_t, kSocFunctions> others_{};
  std::array<std::int64_t, kSocFunctions> other_types_{};
  std::int64_t nameless_qos_ = 0;
};

class StarsSocProfileKind : public SliceKind {
 public:
  explicit StarsSocProfileKind(CannImport& import)
      : SliceKind(import, "stars_soc_profile.data", kSocFormat) {}

 private:
  void read(const ImportContext& context, const CannPart& part, RecordStream& stream) override {
    if (!check_ticks(context, part, name())) return;
    tell_unexpected(import_, context, part, name(), {5, 7, 8, 11, 15, 16, 17, 18});
    SocSamples samples(import_, context, part);
    TimeOrder<std::pair<SocWire, std::uint64_t>> order;
    const auto take = [&](std::int64_t time_ns, const std::pair<SocWire, std::uint64_t>& item) {
      samples.take(item.first, time_ns, item.second);
    };
    stream.open(context, [&](const StreamRecord& record) {
      const auto wire = decode<SocWire>(record.bytes);
      const std::int64_t time_ns = part.clock->ns(wire.head.ticks);
      if (!is_time(import_.session, time_ns)) {
        stream.skip(context, record, kImpossibleTime);
      } else if (!order.add(time_ns, {wire, record.offset}, take)) {
        stream.skip(context, record, kTooLate);
      }
    });
    order.finish(take);
    samples.finish();
  }
};

}  // namespace

std::unique_ptr<RawKind> make_stars_soc_profile_kind(CannImport& import) {
  return std::make_unique<StarsSocProfileKind>(import);
}

}  // namespace msprof::cann
