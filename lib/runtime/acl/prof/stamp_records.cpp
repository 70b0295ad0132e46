// Writes stamps to every recording that includes them, and the texts that have ids to the
// dictionaries.
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "runtime/acl/include/acl/acl_prof.h"
#include "runtime/acl/prof/dictionary.hpp"
#include "runtime/acl/prof/recorder.hpp"
#include "runtime/acl/prof/recording.hpp"
#include "runtime/acl/prof/stamps.hpp"

namespace msprof::acl {
namespace {

// Texts with ids, for recordings that start later.
struct StampTexts {
  std::mutex mutex;
  std::map<std::string, std::uint64_t, std::less<>> hashes;
};

StampTexts& texts() {
  static auto* const made = new StampTexts;
  return *made;
}

}  // namespace

bool records_stamps() {
  return (ActiveRecordings::instance().bits() & ACL_PROF_MSPROFTX) != 0;
}

void record_stamp(const MsprofTxWire& record, std::size_t message_bytes) {
  const std::size_t used_bytes = offsetof(MsprofTxWire, message) + message_bytes;
  ActiveRecordings::instance().for_each([&](Recording& recording) {
    // A range that was open when a recording started is not recorded.
    if ((recording.options().bits & ACL_PROF_MSPROFTX) != 0 &&
        record.start_count >= recording.begin_ns())
      recording.append(HostFile::msproftx, &record, used_bytes);
  });
}

std::uint64_t intern_text(std::string_view text) {
  std::uint64_t hash = 0;
  {
    const std::lock_guard lock(texts().mutex);
    const auto found = texts().hashes.find(text);
    if (found == texts().hashes.end()) {
      hash = text_hash(text);
      texts().hashes.emplace(text, hash);
    } else {
      hash = found->second;
    }
  }
  ActiveRecordings::instance().for_each(
      [&](Recording& recording) { recording.intern(hash, text); });
  return hash;
}

void give_texts(Recording& recording) {
  const std::lock_guard lock(texts().mutex);
  for (const auto& [text, hash] : texts().hashes) recording.intern(hash, text);
}

void lock_texts() {
  texts().mutex.lock();
}

void unlock_texts() {
  texts().mutex.unlock();
}

}  // namespace msprof::acl
